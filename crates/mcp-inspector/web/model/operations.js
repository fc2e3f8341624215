// The operations of a server, each with initial params and the schema of its form.

import { isObject } from './schema.js';
import { variables } from './uri-template.js';

/** @import { Offer, Offered } from '../api' */
/** @import { Schema } from './schema.js' */

/**
 * @typedef {object} Operation
 * @property {string} key unique among operations
 * @property {string} method
 * @property {string[]} [methods] alternatives that take the same params
 * @property {string} title
 * @property {string} [description]
 * @property {string} params initial params, as JSON
 * @property {Schema} [schema] of the form
 * @property {'params' | 'arguments' | 'template'} [fills] the part of the message that the form edits
 * @property {string} [template]
 * @property {Offered} [offered]
 * @property {object} [ref] the reference for `completion/complete`
 * @property {boolean} [isFree] whether the method is typed
 * @property {boolean} [isRaw] whether it is sent as plain text
 */

/** @param {string} text @returns {Schema} */
function definitionOf(text) {
  try {
    const definition = JSON.parse(text);
    return isObject(definition) ? definition : {};
  } catch {
    return {};
  }
}

/** @param {Offered} tool @returns {Operation} */
export function toolCall(tool) {
  const { inputSchema } = definitionOf(tool.definition);
  const schema = isObject(inputSchema) ? inputSchema : { type: 'object' };
  return {
    key: `tool ${tool.name}`, method: 'tools/call', title: tool.title ?? tool.name, description: tool.description,
    params: JSON.stringify({ name: tool.name, arguments: {} }), schema, fills: 'arguments', offered: tool,
  };
}

const URI = { type: 'object', properties: { uri: { type: 'string', format: 'uri' } }, required: ['uri'] };

/** @param {Offered} resource @returns {Operation} */
export function resourceRead(resource) {
  return {
    key: `resource ${resource.name}`, method: 'resources/read', methods: ['resources/read', 'resources/subscribe', 'resources/unsubscribe'],
    title: resource.title ?? resource.name, description: resource.description, params: JSON.stringify({ uri: resource.name }),
    schema: URI, fills: 'params', offered: resource,
  };
}

/** @param {Offered} template @returns {Operation} */
export function templateRead(template) {
  const properties = Object.fromEntries(variables(template.name).map(name => [name, { type: 'string' }]));
  return {
    key: `template ${template.name}`, method: 'resources/read', methods: ['resources/read', 'resources/subscribe', 'resources/unsubscribe'],
    title: template.title ?? template.name, description: template.description, params: JSON.stringify({ uri: template.name }),
    schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }, fills: 'template',
    template: template.name, offered: template, ref: { type: 'ref/resource', uri: template.name },
  };
}

/** @param {Offered} prompt @returns {Operation} */
export function promptGet(prompt) {
  const stated = definitionOf(prompt.definition).arguments;
  const list = Array.isArray(stated) ? stated.filter(isObject).filter(({ name }) => typeof name === 'string') : [];
  const properties = Object.fromEntries(list.map(({ name, description }) => [name, { type: 'string', description }]));
  const required = list.filter(argument => argument.required === true).map(argument => argument.name);
  return {
    key: `prompt ${prompt.name}`, method: 'prompts/get', title: prompt.title ?? prompt.name, description: prompt.description,
    params: JSON.stringify({ name: prompt.name, arguments: {} }), schema: { type: 'object', properties, required }, fills: 'arguments',
    offered: prompt, ref: { type: 'ref/prompt', name: prompt.name },
  };
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Operations that do not depend on the server's lists. @returns {Operation[]} */
export function others() {
  return [
    { key: 'other ping', method: 'ping', title: 'ping', params: '' },
    { key: 'other logging/setLevel', method: 'logging/setLevel', title: 'logging/setLevel', params: '{"level":"info"}', fills: 'params',
      schema: { type: 'object', properties: { level: { enum: LEVELS } }, required: ['level'], additionalProperties: false } },
    { key: 'other resources/read', method: 'resources/read', methods: ['resources/read', 'resources/subscribe', 'resources/unsubscribe'],
      title: 'Resource by URI', params: '{"uri":""}', schema: URI, fills: 'params' },
    { key: 'other completion/complete', method: 'completion/complete', title: 'completion/complete', fills: 'params',
      params: '{"ref":{"type":"ref/prompt","name":""},"argument":{"name":"","value":""}}',
      schema: { type: 'object', required: ['ref', 'argument'], properties: {
        ref: { oneOf: [
          { title: 'prompt', type: 'object', properties: { type: { const: 'ref/prompt' }, name: { type: 'string' } }, required: ['type', 'name'] },
          { title: 'resource template', type: 'object', properties: { type: { const: 'ref/resource' }, uri: { type: 'string' } }, required: ['type', 'uri'] },
        ] },
        argument: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } }, required: ['name', 'value'] },
      } } },
    { key: 'other method', method: '', title: 'Any method', params: '{}', isFree: true },
    { key: 'other raw', method: '', title: 'Raw text', params: '', isRaw: true,
      description: 'Sent exactly as you type it, JSON or not.' },
  ];
}

/** @param {Offer} offer @returns {[string, Operation[]][]} */
export function everything(offer) {
  return [
    ['Tools', offer.tools.map(toolCall)], ['Resources', offer.resources.map(resourceRead)],
    ['Templates', offer.templates.map(templateRead)], ['Prompts', offer.prompts.map(promptGet)], ['Other', others()],
  ];
}
