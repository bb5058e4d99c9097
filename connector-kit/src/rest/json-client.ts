import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '../errors.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';
import type { Sessions } from './sessions.ts';

/** How often a record that another request has locked is tried again. */
const lockedAttempts = 20;

/** An interface that takes and gives JSON. Paths are relative to its base. Everything throws a ConnectorError. */
export interface JsonClient {
  get(path: string): Promise<unknown>;
  /** A read by POST. */
  ask(path: string, body: object): Promise<unknown>;
  /** Sent again while the EHR refuses it because another request has locked the record. */
  write(path: string, body: object, method?: 'POST' | 'PUT' | 'PATCH'): Promise<unknown>;
}

interface JsonClientOptions<Session> {
  readonly http: EhrHttp;
  /** Ends with `/`. */
  readonly base: string;
  readonly sessions: Sessions<Session, EhrResponse>;
  /** What a request has of the session. */
  headersOf(session: Session): Readonly<Record<string, string>>;
  /** The error for an answer that is no success. */
  refusalOf(status: number, text: string): ConnectorError;
  /** The status of the refusal of a write whose record is locked. Absent: the EHR waits itself. */
  readonly lockedStatus?: number;
}

export function createJsonClient<Session>(options: JsonClientOptions<Session>): JsonClient {
  const { http, base, sessions, headersOf, refusalOf, lockedStatus } = options;

  async function send(request: EhrRequest): Promise<unknown> {
    const response = await sessions.in((session) =>
      http.send({ ...request, headers: { ...request.headers, ...headersOf(session) } }),
    );
    const { status, text } = response;
    if (status >= 200 && status < 300) return jsonIn(text);
    throw refusalOf(status, text);
  }

  return {
    get: (path) => send({ method: 'GET', url: base + path, headers: { accept: json }, repeatable: true }),
    ask: (path, body) => send({ ...jsonRequest('POST', base + path, body), repeatable: true, writes: false }),
    async write(path, body, method = 'POST') {
      for (let attempt = 1; ; attempt++) {
        try {
          return await send(jsonRequest(method, base + path, body));
        } catch (error) {
          const isLocked = error instanceof ConnectorError && error.refusal?.status === lockedStatus;
          if (!isLocked || lockedStatus === undefined) throw error;
          if (attempt === lockedAttempts) throw new ConnectorError('unavailable', 'The EHR keeps the record locked');
          await sleep(50 + Math.random() * 200);
        }
      }
    },
  };
}

const json = 'application/json';

/** A request with JSON, which is not sent again. */
export function jsonRequest(method: 'POST' | 'PUT' | 'PATCH', url: string, body: object): EhrRequest {
  const headers = { 'content-type': json, accept: json };
  return { method, url, headers, body: JSON.stringify(body), repeatable: false };
}

/** @throws ConnectorError for what is no JSON */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the response.
    throw noAnswer();
  }
}

/** Whether a body is a page in HTML, as a proxy or another server sends it: its status says nothing of what was asked for. */
export function isPage(text: string): boolean {
  return /^\s*<(!doctype html|html)\b/i.test(text);
}

/** The EHR sent what is none of its answers, such as the page of a proxy. */
export function noAnswer(): ConnectorError {
  return new ConnectorError('rejected', 'The EHR sent an answer that is none of its own', { fault: true });
}
