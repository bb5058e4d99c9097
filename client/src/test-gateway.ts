import { type CrosswardClientOptions, createCrosswardClient } from './client.ts';

/** A response to send, or what happens instead of one. */
export type Reply = Response | ((request: Request) => Response | Promise<Response>);

export interface RecordedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

/** A client whose `fetch` gives the replies in order and records the requests. The last reply is repeated. */
export function clientWithReplies(replies: readonly Reply[], options: Partial<CrosswardClientOptions> = {}) {
  const requests: RecordedRequest[] = [];
  const client = createCrosswardClient({
    baseUrl: 'http://gateway.test',
    clientId: 'demo',
    clientSecret: 'secret',
    async fetch(request) {
      const { method, url, headers } = request;
      requests.push({ method, url: new URL(url), headers, body: await request.clone().text() });
      const reply = replies[Math.min(requests.length, replies.length) - 1];
      if (reply === undefined) throw new Error('No reply is left');
      return reply instanceof Response ? reply.clone() : reply(request);
    },
    ...options,
  });
  return { client, unit: client.careUnit('sandbox-no', 'oslo-sentrum'), requests };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
}

export function problem(reason: string, status: number, headers: Record<string, string> = {}, retryable = true) {
  return json({ reason, status, retryable, detail: 'In a test.', errors: [] }, status, headers);
}

/** As `fetch` fails without a connection. */
export function noConnection(): Promise<Response> {
  return Promise.reject(new TypeError('fetch failed'));
}
