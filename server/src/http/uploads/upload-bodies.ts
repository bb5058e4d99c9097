import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findReceiver } from '../../api/add-endpoint.ts';
import { Problem } from '../../problems/problem.ts';
import { discardUpload } from '../../uploads/remove-uploads.ts';
import { inspectUpload, stageUpload } from '../../uploads/stage-upload.ts';
import type { Upload } from '../../uploads/upload.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { parseJson } from '../body/json-body.ts';
import { onceEnded } from '../observed/exchanges.ts';
import { bodyUnreadable } from '../protocol/error-handler.ts';
import type { ReceivedUpload, Stage } from './multipart-upload.ts';
import { receiveMultipart } from './multipart-upload.ts';
import { createStagedBytes } from './staged-bytes.ts';

/** Contents of the maximum size that a client can send at the same time. */
const mostAtOnce = 8;

interface Settings {
  readonly services: Pick<WriteServices, 'db' | 'keys'>;
  /** Maximum size of the content. */
  readonly maxBytes: number;
}

/**
 * Bodies with content, for the endpoints of this scope that have `form`: JSON with the content in base64, within the limit of
 * ordinary bodies, or `multipart/form-data`, whose content goes into the staging area while it arrives. In the parsed body,
 * the hash of the content takes its place: it identifies the content for a retry. Nothing is stored for a patient who is not found, and a client can have a
 * limited number of bytes in the staging area.
 */
export function addUploadBodies(scope: FastifyInstance, { services, maxBytes }: Settings): void {
  const limit = {
    maxBytes,
    tooLarge: () => new Problem('content_too_large', { detail: `The content is larger than ${maxBytes} bytes.` }),
  };
  const stagedBytes = createStagedBytes(mostAtOnce * maxBytes);

  scope.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.routeOptions.config.endpoint?.form === undefined) return done();
    const length = Number(request.headers['content-length'] ?? maxBytes);
    const giveBack = stagedBytes.take(request.access?.client.id ?? '', Math.min(length, maxBytes));
    onceEnded(request, giveBack);
    request.receiver = findReceiver(request);
    // The handler throws the error at its place.
    request.receiver?.catch(() => undefined);
    done();
  });

  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer) =>
    staged(request, (stage) => receiveJson(body, stage)),
  );
  scope.addContentTypeParser('multipart/form-data', (request: FastifyRequest) =>
    staged(request, (stage) => receiveMultipart(request, stage)),
  );

  async function staged(
    request: Pick<FastifyRequest, 'upload' | 'receiver'>,
    receive: (stage: Stage) => Promise<ReceivedUpload>,
  ): Promise<unknown> {
    let upload: Upload | undefined;
    try {
      const received = await receive(async (content) => {
        const isFound = await (request.receiver ?? Promise.resolve()).then(
          () => true,
          () => false,
        );
        upload = await (isFound ? stageUpload(services, content, limit) : inspectUpload(content, limit));
        return upload;
      });
      if (!received.upload) return received.fields;
      request.upload = received.upload;
      return { ...(received.fields as object), content: `sha-256:${received.upload.sha256}` };
    } catch (error) {
      if (upload) await discardUpload(services.db, upload.id).catch(() => undefined);
      throw error;
    }
  }
}

/** @throws Problem `request_invalid`, `content_too_large` */
async function receiveJson(body: Buffer, stage: Stage): Promise<ReceivedUpload> {
  const fields = parseJson(body);
  const content = (fields as { readonly content?: unknown } | null)?.content;
  // The schema rejects other content.
  if (typeof content !== 'string') return { fields, upload: undefined };
  const bytes = Buffer.from(content, 'base64');
  // `Buffer` skips what is not base64.
  if (bytes.toString('base64') !== content) {
    throw bodyUnreadable('/content is not valid base64 (RFC 4648 section 4).', '/content');
  }
  return { fields, upload: await stage(Readable.from([bytes])) };
}
