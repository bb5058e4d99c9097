import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { bodyUnreadable } from '../error-handler.ts';
import { parseJson } from '../json-body.ts';
import { base64Decoder } from './base64.ts';
import type { ReceivedUpload, Stage } from './received-upload.ts';
import { splitJson } from './split-json.ts';

/**
 * Reads a JSON body whose field `content` is long and in base64. The content is staged while it arrives; the rest must fit
 * into the limit of ordinary bodies.
 *
 * @throws Problem `request_invalid`, `content_too_large`
 */
export async function receiveJson(
  body: Readable,
  { routeOptions: { bodyLimit } }: Pick<FastifyRequest, 'routeOptions'>,
  stage: Stage,
): Promise<ReceivedUpload> {
  const splitter = splitJson('content');
  const decoder = base64Decoder('/content');
  const rest: Buffer[] = [];
  let restSize = 0;

  async function* content(): AsyncGenerator<Buffer> {
    // A problem leaves the rest of the body unread, and the connection open for the response.
    for await (const bytes of body.iterator({ destroyOnReturn: false })) {
      const decoded: Buffer[] = [];
      const others = splitter.push(bytes, (text) => decoded.push(decoder.push(text)));
      restSize += others.length;
      if (bodyLimit !== undefined && restSize > bodyLimit) throw restTooLarge();
      rest.push(others);
      yield* decoded;
    }
    yield decoder.end();
  }

  const upload = await stage(content());
  if (rest.every(({ length }) => length === 0)) throw bodyUnreadable('The body is empty.');
  return { fields: parseJson(Buffer.concat(rest), !splitter.isFound), upload: splitter.isFound ? upload : undefined };
}

function restTooLarge(): Problem {
  return new Problem('content_too_large', { detail: 'The body without its content is larger than 1 MiB.' });
}
