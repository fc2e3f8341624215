// What the service sends. Kept beside the Rust types: src/frame.rs, src/problems.rs, src/service/.

export type Side = 'client' | 'server';
export type Severity = 'error' | 'warning';
export type Kind =
  | 'request' | 'notification' | 'result' | 'error' | 'malformed' | 'batch' | 'text' | 'http-request' | 'http-response'
  | 'event' | 'end' | 'stderr' | 'exit' | 'too-long' | 'gap';

export interface Row {
  number: number;
  at?: number;
  from?: Side;
  kind: Kind;
  method?: string;
  target?: string;
  id?: string;
  entries?: number;
  bytes: number;
  took?: number;
  pair?: number;
  worst?: Severity;
  findings: number;
  rules?: string[];
  preview: string;
  session?: string;
  exchange?: number;
  status?: number;
  http?: string;
  byProxy?: boolean;
  heldBack?: boolean;
  judged?: boolean;
}

export interface Finding {
  rule: string;
  severity: Severity;
  layer: string;
  revision?: string;
  from?: Side;
  atFault?: Side;
  line?: number;
  index?: number;
  span?: [number, number];
  code?: number;
  pointer?: string;
  instancePath?: string;
  schemaPath?: string;
  keyword?: string;
  params?: unknown;
  message: string;
  help?: string;
  spec?: string;
  related?: { line: number; reason: string };
}

export interface Detail {
  row: Row;
  findings: Finding[];
  text?: string;
  base64?: string;
  cutFrom?: number;
  http?: {
    exchange?: number; method?: string; url?: string; status?: number; headers?: Record<string, string | string[]>;
    sse?: Record<string, unknown>; end?: boolean;
  };
  pair?: Row;
}

export interface About { version: string; target: string; first: number; next: number; bytes: number; }
export interface News { cursor: number; is_behind: boolean; rows: Row[]; }
export interface Problem {
  rule: string; layer: string; atFault?: Side; severity: Severity; count: number; summary: string; frames: number[];
  message: string;
}
export interface Rule { name: string; layer: string; level: string; revisions: string[]; spec: string; docs: string; }
