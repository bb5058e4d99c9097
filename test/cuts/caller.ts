import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildGateway } from '../processes/child-gateway.ts';
import type { Kind, Told, Write } from './history.ts';
import type { Random } from './random.ts';
import { cutMilliseconds, type World } from './world.ts';

/** A caller hangs up after this time. */
const patienceMilliseconds = 8_000;
/**
 * After an unknown outcome a caller without a key looks after this time, and asks again if it sees nothing. Until then the
 * gateway and its database have ended what was under way: a held statement has passed, and a lease has expired.
 */
const settlingMilliseconds = cutMilliseconds + 9_000;
/** After the last cut a caller goes on for this long. Then its key is stuck. */
const lastPatienceMilliseconds = 60_000;

export interface Request {
  readonly method: 'POST' | 'PATCH' | 'DELETE' | 'GET';
  readonly path: string;
  readonly body?: object;
}

export interface Body {
  readonly id?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  readonly confirmation?: { readonly id: string } | null;
  readonly appointments?: readonly { readonly id: string }[];
}

interface Response {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly body: Body;
}

interface Wish {
  readonly kind: Kind;
  readonly operation: string;
  readonly subjects: readonly string[];
  readonly request: Request;
  readonly confirmationId?: string | undefined;
  readonly start?: string | undefined;
  /** If the response names none. */
  readonly ids?: readonly string[];
  /** Whether the wish came true, for callers without a key. Returns the ids. Absent: nobody can see it. */
  readonly look?: () => Promise<readonly string[] | undefined>;
}

/** The response of a write, beside what the history keeps. */
export interface Settled extends Write {
  readonly body: Body;
}

/** Callers that do what the responses and problem documents say. */
export function createCallers(world: World, random: Random) {
  const writes: Write[] = [];
  let healedAt: number | undefined;

  /** Sends a wish until its outcome is known, or the caller gives up. */
  async function settle(wish: Wish): Promise<Settled> {
    const isKeyed = random() < 0.6;
    const key = randomUUID();
    const requestIds: string[] = [];
    const answers: string[] = [];
    let [isUnknown, isDisturbed, internalErrors] = [false, false, 0];
    let last: Response | 'not sent' | 'lost' | undefined;
    for (;;) {
      const requestId = makeRequestId();
      requestIds.push(requestId);
      const headers = { 'x-request-id': requestId, ...(isKeyed ? { 'idempotency-key': key } : {}) };
      last = await send(wish.request, headers);
      answers.push(typeof last === 'string' ? last : `${last.status} ${last.body.reason ?? ''}`.trim());
      if (last === 'not sent') {
        await sleep(200);
        if (isOver()) return end('unknown');
        continue;
      }
      if (last !== 'lost' && last.status === 500) {
        internalErrors++;
        return end('unknown');
      }
      if (last !== 'lost' && last.status < 300) return end('done', idsIn(last.body) ?? wish.ids);
      const isOpen = last === 'lost' || last.body.reason === 'outcome_unknown';
      if (last !== 'lost' && !isOpen && !last.body.retryable) {
        const seen = isUnknown && !isKeyed ? await wish.look?.() : undefined;
        return seen
          ? end('done', seen)
          : end(wish.kind === 'wrong code' && last.body.reason === 'confirmation_code_incorrect' ? 'done' : 'rejected');
      }
      isDisturbed = true;
      if (isKeyed) {
        if (last !== 'lost' && !last.body.retryable) return end('unknown');
        if (isOver()) return end('unknown', wish.ids, true);
        await pause(last);
      } else if (isOpen) {
        isUnknown = true;
        if (!wish.look) return end('unknown');
        await sleep(settlingMilliseconds);
        const seen = await wish.look();
        if (seen) return end('done', seen);
        if (isOver() || random() < 0.5) return end('unknown');
      } else {
        if (isOver()) return end(isUnknown ? 'unknown' : 'rejected');
        await pause(last);
      }
    }

    function end(told: Told, ids: readonly string[] = wish.ids ?? [], isStuck = false): Settled {
      const body = typeof last === 'object' ? last.body : {};
      const { kind, operation, subjects, start } = wish;
      const confirmationId = wish.confirmationId ?? body.confirmation?.id;
      const reason = typeof last === 'object' ? last.body.reason : last;
      const write: Write = {
        kind,
        operation,
        isKeyed,
        subjects,
        requestIds,
        answers,
        told,
        ids,
        confirmationId,
        start,
        reason,
        isDisturbed,
        internalErrors,
        isStuck,
      };
      writes.push(write);
      return { ...write, body };
    }
  }

  const isOver = () => healedAt !== undefined && Date.now() > healedAt + lastPatienceMilliseconds;

  async function pause(response: Response | 'lost'): Promise<void> {
    await sleep(response === 'lost' ? 300 : Math.max(200, response.retryAfterSeconds * 1_000));
  }

  async function send(
    { method, path, body }: Request,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response | 'not sent' | 'lost'> {
    const gateway: ChildGateway | undefined = world.gateway();
    if (!gateway) return 'not sent';
    try {
      const response = await fetch(gateway.address + path, {
        method,
        headers: { ...gateway.credentials, ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(patienceMilliseconds),
      });
      const text = await response.text();
      return {
        status: response.status,
        retryAfterSeconds: Number(response.headers.get('retry-after') ?? 0),
        body: text === '' ? {} : JSON.parse(text),
      };
    } catch (error) {
      const code = (error as { cause?: { code?: string } }).cause?.code;
      return code === 'ECONNREFUSED' ? 'not sent' : 'lost';
    }
  }

  return {
    writes,
    settle,
    /** Reads until there is a response. `undefined`: there is no such thing. */
    async read<Result>(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Result | undefined> {
      for (;;) {
        const response = await send({ method: 'GET', path }, headers);
        if (typeof response === 'object' && response.status === 200) return response.body as Result;
        if (typeof response === 'object' && response.status === 404) return undefined;
        if (isOver()) throw new Error(`GET ${path} gets no response: ${JSON.stringify(response)}`);
        await sleep(300);
      }
    },
    /** No more cuts: from now on every key gets its final response. */
    healed(): void {
      healedAt ??= Date.now();
    },
  };
}

export type Callers = ReturnType<typeof createCallers>;

function idsIn({ id, appointments }: Body): readonly string[] | undefined {
  return appointments ? appointments.map((it) => it.id) : id === undefined ? undefined : [id];
}

/** A UUID with few digits, which the gateway takes: digits could be a national number. */
function makeRequestId(): string {
  const letters = (count: number) => Array.from({ length: count }, () => 'abcdef'[randomInt(6)]).join('');
  return `${letters(8)}-${letters(4)}-4${letters(3)}-a${letters(3)}-${letters(12)}`;
}
