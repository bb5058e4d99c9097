import { AsyncLocalStorage } from 'node:async_hooks';
import { type Connector, writeOperations } from '../connector.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';
import { createSentWrites, isRefusal, isWrite, type SentWrites } from '../sent-writes.ts';

/**
 * What becomes of each request of a call after its first write was answered and not refused. `place`: 0 for the first.
 * `undefined`: it is sent.
 */
export type LaterRequests = (request: EhrRequest, place: number) => Promise<EhrResponse> | undefined;

interface Watch {
  readonly writes: SentWrites;
  readonly later: LaterRequests | undefined;
  /** Requests of the call. */
  sent: number;
  isWritten: boolean;
  laterCount: number;
}

/** What a call has sent. */
export interface Watched<Result> {
  readonly outcome: PromiseSettledResult<Result>;
  /** Requests through the HTTP client that the kit, or the gateway, has given to the connector. */
  readonly sent: number;
  /** Whether one of them writes, and was not refused. */
  readonly isWritten: boolean;
}

const watches = new AsyncLocalStorage<Watch>();

/** The client with what a check needs: it notes what each call sends, and lets requests fail that follow a write. */
export function watchedHttp<Http extends EhrHttp>(http: Http): Http {
  async function watched<Response extends Pick<EhrResponse, 'status' | 'headers'>>(
    request: EhrRequest,
    send: (request: EhrRequest) => Promise<Response>,
  ): Promise<Response | EhrResponse> {
    const watch = watches.getStore();
    if (!watch) return send(request);
    const failed = watch.isWritten ? watch.later?.(request, watch.laterCount++) : undefined;
    if (failed) return failed;
    watch.sent++;
    const sent = watch.writes.sends(request);
    try {
      const response = await send(request);
      sent.answered(response);
      if (isWrite(request) && !isRefusal(request, response)) watch.isWritten = true;
      return response;
    } catch (error) {
      sent.failed(!isUnavailable(error));
      throw error;
    }
  }
  return {
    ...http,
    send: (request) => watched(request, (it) => http.send(it)) as Promise<EhrResponse>,
    stream: async (request) => {
      const response = await watched(request, (it) => http.stream(it));
      return 'chunks' in response ? response : { ...response, chunks: chunksOf(response.text) };
    },
  };
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function isUnavailable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'kind' in error && error.kind === 'unavailable';
}

/** Runs a call. Requests that follow its first write get what `later` says. */
export async function watchingCall<Result>(
  call: () => Promise<Result>,
  later?: LaterRequests,
): Promise<Watched<Result>> {
  const watch = newWatch(later);
  const [outcome] = await Promise.allSettled([watches.run(watch, call)]);
  return { outcome, sent: watch.sent, isWritten: watch.isWritten };
}

/** The connector as the guard of the gateway calls it: a write that fails after it was sent has an unknown outcome. */
export function withKnownWrites(connector: Connector): Connector {
  const names: readonly (string | symbol)[] = writeOperations;
  return new Proxy(connector, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || !names.includes(name)) return member;
      return (...input: unknown[]) => guarded(async () => Reflect.apply(member, target, input));
    },
  });
}

async function guarded(call: () => Promise<unknown>): Promise<unknown> {
  const watch = watches.getStore() ?? newWatch();
  return watches.run(watch, call).catch((error: unknown) => {
    throw watch.writes.errorOf(error);
  });
}

function newWatch(later?: LaterRequests): Watch {
  return { writes: createSentWrites(), later, sent: 0, isWritten: false, laterCount: 0 };
}
