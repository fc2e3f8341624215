// Requests of the page that make the program send messages to a server.

import { ask, ApiError } from './api.js';

/** @import { Composed, Offer, Sent, SpeakState } from '../api' */

/** @returns {Promise<SpeakState>} */
export const state = async () => (await ask('speak')).json();

/** @returns {Promise<Offer>} */
export const offer = async () => (await ask('speak/offer')).json();

/**
 * @param {string} what
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
async function post(what, body, signal) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal };
  return (await ask(`speak/${what}`, init)).json();
}

/** @param {{ server?: string, revision?: string }} how @returns {Promise<SpeakState>} */
export const connect = how => post('connect', how);
/** @returns {Promise<SpeakState>} */
export const disconnect = () => post('disconnect', {});
/** @returns {Promise<Offer>} */
export const refresh = () => post('refresh', {});
/** @param {string} method @param {string | undefined} params @param {AbortSignal} signal @returns {Promise<Composed>} */
export const compose = (method, params, signal) => post('compose', { method, params }, signal);
/** @param {string} method @param {string | undefined} params @returns {Promise<Sent>} */
export const request = (method, params) => post('request', { method, params });
/** @param {string} text @returns {Promise<Sent>} */
export const raw = text => post('raw', { text });
/** @param {{ id: string, result?: string, error?: string }} answer @returns {Promise<Sent>} */
export const answer = answer => post('answer', answer);
/** @param {string} id @returns {Promise<Sent>} */
export const cancel = id => post('cancel', { id });
/** @param {number} frame @param {string} [text] @returns {Promise<Sent>} */
export const replay = (frame, text) => post('replay', { frame, text });
/** @param {{ misbehave?: boolean, toolResults?: boolean }} switches @returns {Promise<SpeakState>} */
export const demo = switches => post('demo', switches);

/** Describes an error. @param {unknown} error */
export const wordsOf = error => error instanceof ApiError && error.help ? `${error.message} (${error.help})`
  : error instanceof Error ? error.message : String(error);
