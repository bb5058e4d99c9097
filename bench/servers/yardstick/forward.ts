import type { FastifyInstance } from 'fastify';
import { Pool } from 'undici';
import { bookDirectly, type FhirRequest, type Slot } from './fhir-booking.ts';

const connections = 32;
const headers = { 'content-type': 'application/fhir+json', accept: 'application/fhir+json' };

/** `GET /forward/*`: one request to the FHIR server. `POST /book`: the requests of a booking. Passes the responses on unread. */
export function addForwardRoutes(app: FastifyInstance, baseUrl: string): void {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = new Pool(origin, { connections });
  app.addHook('onClose', () => pool.close());
  const send = async ({ method, path, body }: FhirRequest) => {
    const response = await pool.request({
      path: prefix + path,
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return text;
  };
  app.get('/forward/*', async ({ raw }, reply) =>
    reply.type(headers.accept).send(await send({ method: 'GET', path: (raw.url ?? '').slice('/forward'.length) })),
  );
  app.post<{ Body: Slot }>('/book', async ({ body }, reply) =>
    reply
      .code(201)
      .type(headers.accept)
      .send(await bookDirectly(send, body)),
  );
}
