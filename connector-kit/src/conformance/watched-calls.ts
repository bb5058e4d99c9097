import { AsyncLocalStorage } from 'node:async_hooks';
import { type Connector, writeOperations } from '../connector.ts';
import type { EhrHttp, EhrRequest, EhrResponse } from '../http.ts';
import { createSentWrites, isRefusal, isWrite, type SentWrites } from '../sent-writes.ts';

/** What a call has sent before a request. */
export interface SentSoFar {
  /** Requests that write, whatever became of them. */
  readonly writes: number;
  /** Requests since the first write that was answered and not refused. `undefined`: there was none. */
  readonly sinceWrite: number | undefined;
}

/**
 * What happens to a request on its way to the EHR and back. `send` sends it, each time that it is called. `undefined`: the request
 * is sent as it is.
 */
export type OnTheWire = (
  request: EhrRequest,
  soFar: SentSoFar,
  send: () => Promise<EhrResponse>,
) => Promise<EhrResponse> | undefined;

interface Watch {
  readonly writes: SentWrites;
  readonly wire: OnTheWire | undefined;
  /** Requests of the call. */
  sent: number;
  writeCount: number;
  isWritten: boolean;
  laterCount: number;
}

/** What a call has sent. */
export interface Watched<Result> {
  readonly outcome: PromiseSettledResult<Result>;
  /** Requests through the HTTP client that the kit, or the gateway, has given to the connector. */
  readonly sent: number;
  /** Of these, those that write, whatever became of them. */
  readonly writes: number;
  /** Whether one of them writes, and was not refused. */
  readonly isWritten: boolean;
}

const watches = new AsyncLocalStorage<Watch>();

/** The client with what a check needs: it notes what each call sends, and lets things happen to its requests. */
export function watchedHttp<Http extends EhrHttp>(http: Http): Http {
  async function watched<Response extends Pick<EhrResponse, 'status' | 'headers'>>(
    request: EhrRequest,
    send: () => Promise<Response>,
    whole: (response: Response) => Promise<EhrResponse>,
  ): Promise<Response | EhrResponse> {
    const watch = watches.getStore();
    if (!watch) return send();
    const soFar = { writes: watch.writeCount, sinceWrite: watch.isWritten ? watch.laterCount++ : undefined };
    if (isWrite(request)) watch.writeCount++;
    watch.sent++;
    const sent = watch.writes.sends(request);
    try {
      const response = await (watch.wire?.(request, soFar, async () => whole(await send())) ?? send());
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
    send: (request) =>
      watched(
        request,
        () => http.send(request),
        async (it) => it,
      ) as Promise<EhrResponse>,
    stream: async (request) => {
      const response = await watched(request, () => http.stream(request), wholeOf);
      return 'chunks' in response ? response : { ...response, chunks: chunksOf(response.text) };
    },
  };
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function wholeOf({ chunks, ...head }: Awaited<ReturnType<EhrHttp['stream']>>): Promise<EhrResponse> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return { ...head, text: Buffer.concat(read).toString() };
}

function isUnavailable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'kind' in error && error.kind === 'unavailable';
}

/** Runs a call, and what happens to its requests. */
export async function watchingCall<Result>(call: () => Promise<Result>, wire?: OnTheWire): Promise<Watched<Result>> {
  const watch = newWatch(wire);
  const [outcome] = await Promise.allSettled([watches.run(watch, call)]);
  return { outcome, sent: watch.sent, writes: watch.writeCount, isWritten: watch.isWritten };
}

/** Runs what others do meanwhile, such as the EHR's staff. Their requests are none of the call's. */
export function unwatched<Result>(run: () => Promise<Result>): Promise<Result> {
  return watches.exit(run);
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

function newWatch(wire?: OnTheWire): Watch {
  return { writes: createSentWrites(), wire, sent: 0, writeCount: 0, isWritten: false, laterCount: 0 };
}
