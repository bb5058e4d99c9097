import { type Dispatcher, Pool } from 'undici';
import type { Headers, Server } from './server.ts';

/** A kind of work that is done again and again. */
export interface Load {
  readonly server: Server;
  /** Returns the next request, or what needs several. */
  readonly next: () => Request | Steps;
}

/** Sends a request and returns the text of the response. */
export type Send = (request: Request) => Promise<string>;

/** Several requests that belong together. Returns the text of the last response. */
export type Steps = (send: Send) => Promise<string>;

/** A response that is not successful. */
class Unsuccessful extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A request that creates something. */
export interface Creating {
  readonly path: string;
  readonly body: object;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Work that has ended. */
export interface Sample {
  /** `performance.now()` at its end. */
  readonly endedAt: number;
  readonly milliseconds: number;
  /** Whether the server refused it with 409 or 412, so that it has to be done anew. */
  readonly refused: boolean;
}

interface Reads extends Load {
  readonly next: () => Request;
}

/** GET requests of these paths in turn. With more paths than connections, no two requests at a time are identical. */
export function reads(server: Server, ...paths: readonly string[]): Reads {
  const requests = paths.map((path): Request => ({ method: 'GET', path }));
  let index = 0;
  return { server, next: () => requests[index++ % requests.length] as Request };
}

/** POST requests, if wanted each with its own `Idempotency-Key`. */
export function writes(server: Server, creating: () => Creating, withKey = false): Load {
  return {
    server,
    next: () => ({
      method: 'POST',
      ...creating(),
      ...(withKey ? { headers: { 'idempotency-key': crypto.randomUUID() } } : {}),
    }),
  };
}

/**
 * Sends requests on so many connections until `isOver`, and waits for every response.
 *
 * @throws {Unsuccessful} for another response than success or a refusal
 */
export async function send(
  { server, next }: Load,
  connections: number,
  isOver: () => boolean,
): Promise<readonly Sample[]> {
  const pool = new Pool(server.url, { connections });
  const samples: Sample[] = [];
  const sendInTurn = async (connection: number) => {
    const client = server.clients[connection % server.clients.length];
    while (!isOver()) {
      const work = next();
      const sendNow: Send = (request) => sendOne(pool, server, request, client);
      const begun = performance.now();
      const refused = await isRefused(typeof work === 'function' ? work(sendNow) : sendNow(work));
      const endedAt = performance.now();
      samples.push({ endedAt, milliseconds: endedAt - begun, refused });
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, (_, connection) => sendInTurn(connection)));
  } finally {
    await pool.destroy();
  }
  return samples;
}

async function isRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return false;
  } catch (error) {
    if (error instanceof Unsuccessful && (error.status === 409 || error.status === 412)) return true;
    throw error;
  }
}

/**
 * Sends one request and returns the text of the response. Uses `dispatch`, which takes less processor time than `fetch`.
 *
 * @throws {Unsuccessful} unless the response is successful
 */
export function sendOne(
  dispatcher: Dispatcher,
  server: Server,
  request: Request,
  client: Headers = server.clients[0],
): Promise<string> {
  const { method, path, headers, body } = request;
  const options = {
    method,
    path,
    headers: { ...client, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  };
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    dispatcher.dispatch(options, {
      onRequestStart() {
        // Required, even though there is nothing to do.
      },
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        const text = Buffer.concat(chunks).toString();
        if (status >= 200 && status < 300) resolve(text);
        else reject(new Unsuccessful(status, `${method} ${path}: ${status} ${text.slice(0, 500)}`));
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    });
  });
}
