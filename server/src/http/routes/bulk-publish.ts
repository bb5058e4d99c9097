import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inContext } from '../../api/context-of.ts';
import {
  cacheControl,
  file,
  filesPath,
  manifest,
  manifestPath,
  type PublicFile,
} from '../../fhir-face/bulk-publish/files.ts';
import { knowsVersion } from '../../fhir-face/versions.ts';
import { Problem } from '../../problems/problem.ts';
import { limitAddresses } from '../limits/page-limits.ts';

/** Free times of the care units that the operators have made public, without credentials: SMART Scheduling Links. */
export function addBulkPublish(app: FastifyInstance, requestsPerMinute: number): void {
  const onRequest = limitAddresses(app, requestsPerMinute);
  const route = (url: string, read: (request: FastifyRequest) => Promise<PublicFile | undefined>) =>
    app.get(url, {
      onRequest,
      handler: inContext(async (request: FastifyRequest, reply: FastifyReply) => {
        const found = await read(request);
        if (!found) throw new Problem('route_not_found', { detail: 'No route matches this path.' });
        return send(found, request, reply);
      }),
    });
  const deps = { ...app.endpointDeps, log: app.log };
  route(manifestPath, () => manifest(deps));
  route(`${filesPath}/:name`, ({ params }) => file((params as { readonly name: string }).name, deps));
}

function send({ mediaType, text, etag }: PublicFile, { headers }: FastifyRequest, reply: FastifyReply) {
  reply.headers({ etag, 'cache-control': cacheControl });
  if (knowsVersion(headers['if-none-match'], etag.slice(1, -1))) return reply.code(304).send();
  return reply.type(mediaType).send(Buffer.from(text));
}
