import type { FastifyInstance } from 'fastify';
import { bodyLimits } from '../../api/body-limits.ts';
import type { Problem } from '../../problems/problem.ts';
import { bodyUnreadable } from '../protocol/error-handler.ts';
import { faultInJson, type JsonFault } from './json-check.ts';

/** Accepts only JSON in UTF-8 (RFC 8259 section 8.1) in which no object repeats a name. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Problem);
    }
  });
}

/** @throws Problem `request_invalid` */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw bodyUnreadable('The body is empty.');
  const text = decoded(bytes);
  const fault = faultInJson(text, bodyLimits);
  if (fault) throw rejection(fault);
  return JSON.parse(text);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bodyUnreadable('The body is not valid UTF-8.');
  }
}

function rejection(fault: JsonFault): Problem {
  switch (fault.kind) {
    case 'syntax':
      return bodyUnreadable(`The body is not valid JSON: see line ${fault.line}, column ${fault.column}.`);
    case 'too deep':
      return bodyUnreadable(`The body is nested more than ${bodyLimits.depth} levels deep.`);
    case 'too many values':
      return bodyUnreadable(`The body contains more than ${bodyLimits.values} values.`);
    case 'repeated name': {
      const { pointer } = fault;
      if (fault.isWhole) return bodyUnreadable(`${pointer} is sent more than once.`, pointer);
      const place = pointer === '' ? 'The body' : pointer;
      return bodyUnreadable(`${place} contains the same field more than once.`, pointer);
    }
  }
}
