// What the service sends. Kept beside the Rust types: src/frame.rs, src/problems.rs, src/speak/view.rs, src/service/.

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
  referred?: number;
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
  subject?: string;
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

export interface About {
  version: string; target: string; first: number; next: number; bytes: number; canSpeak: boolean; demo: boolean;
  imported: boolean;
}
/** A line of the stream: rows, or the state of the page's own conversation. */
export interface News { cursor: number; is_behind: boolean; rows: Row[]; speak?: undefined; }
export interface SpeakNews { speak: SpeakState; }

export interface SpeakState {
  status: 'idle' | 'connecting' | 'connected' | 'ended';
  reason?: string;
  servers: { name: string; target: string }[];
  server: string;
  revisions: string[];
  revision?: string;
  era?: 'handshake' | 'stateless';
  session?: string;
  serverInfo?: unknown;
  capabilities?: unknown;
  instructions?: string;
  calls: Call[];
  questions: Question[];
  /** Changes whenever the lists change. */
  offered: number;
  demo?: { misbehave: boolean; toolResults: boolean };
}
export interface Call {
  id: string; method: string; target?: string; frame?: number; answer?: number; sentAt: number; tookMs?: number;
  state: 'pending' | 'answered' | 'cancelled' | 'lost'; reason?: string; replayOf?: number; firstAnswer?: number;
}
export interface Question {
  id: string; method: string; params: string; frame?: number; findings: Finding[]; suggestion: string;
}
export interface Sent { id?: string; text: string; warning?: string; }
export interface Composed { text: string; findings: Finding[]; }
export interface Offer {
  tools: Offered[]; resources: Offered[]; templates: Offered[]; prompts: Offered[]; problems: string[];
}
export interface Offered {
  name: string; title?: string; description?: string; definition: string; frame?: number; findings: Finding[];
  readOnly?: boolean; destructive?: boolean; usable: boolean;
}
export interface Refused { error: string; help: string; }
export interface Problem {
  rule: string; layer: string; atFault?: Side; severity: Severity; count: number; summary: string; frames: number[];
  message: string;
}
export interface Rule { name: string; layer: string; level: string; revisions: string[]; spec: string; docs: string; }

export interface Party { frame?: number; info?: unknown; capabilities?: unknown; }
export interface ToolView {
  name: string; frame?: number; definition?: unknown; bytes: number; tokens: number; calls: number; resultBytes: number;
  resultTokens: number;
}
export interface SchemaView { title: string; frame?: number; schema: unknown; }
export interface ImportView { address: string; frames: number; skipped: number; }
export interface Answered { number: number; method: string; took: number; failed: boolean; }
export interface SessionView {
  revision?: string; era?: string; client: Party; server: Party; tools: ToolView[]; pending: Row[]; subscriptions: string[];
  latency: Answered[]; recent: Row[]; exchanges: number;
}
