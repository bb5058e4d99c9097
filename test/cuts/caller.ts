import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Form, hashOf, hiddenFields } from './forms.ts';
import type { Kind, Told, Write } from './history.ts';
import type { Random } from './random.ts';
import type { Body, Response } from './response.ts';
import { openPage, type Request, sendForm, sendRequest } from './send.ts';
import { cutMilliseconds, type World } from './world.ts';

/**
 * After an unknown outcome a caller without a key looks after this time, and asks again if it sees nothing. Until then the
 * gateway and its database have ended what was under way: a held statement has passed, and a lease has expired.
 */
const settlingMilliseconds = cutMilliseconds + 9_000;
/** After the last cut a caller goes on for this long. Then its key is stuck. */
const lastPatienceMilliseconds = 60_000;

interface Wish {
  readonly kind: Kind;
  readonly operation: string;
  readonly subjects: readonly string[];
  readonly request: Request | Form;
  readonly confirmationId?: string | undefined;
  readonly slots?: readonly string[];
  /** If the response names none. */
  readonly ids?: readonly string[];
  /** Whether the wish came true, for callers without a key. Returns the ids. Absent: nobody can see it. */
  readonly look?: () => Promise<readonly string[] | undefined>;
}

export interface Settled extends Write {
  /** The page for the patient. */
  readonly pageUrl: string | undefined;
}

/** Callers that do what the responses and problem documents say. */
export function createCallers(world: World, random: Random) {
  const writes: Write[] = [];
  let healedAt: number | undefined;

  /** Sends a wish until its outcome is known, or the caller gives up. */
  async function settle(wish: Wish): Promise<Settled> {
    const { request } = wish;
    // A form that can be sent again is its own key.
    const isKeyed = 'fields' in request ? request.sentBefore !== undefined : random() < 0.6;
    const key = randomUUID();
    const requestIds: string[] = [];
    const answers: string[] = [];
    let [isUnknown, isDisturbed, internalErrors] = [false, false, 0];
    let last: Response | 'not sent' | 'lost' | undefined;
    for (;;) {
      const requestId = makeRequestId();
      requestIds.push(requestId);
      const headers = { 'x-request-id': requestId };
      last =
        'fields' in request
          ? await sendForm(world, request, headers)
          : await sendRequest(world, request, { ...headers, ...(isKeyed ? { 'idempotency-key': key } : {}) });
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
        if (isUnknown && last.body.isSentBefore) return end('done', wish.ids);
        const seen = isUnknown && !isKeyed ? await wish.look?.() : undefined;
        return seen
          ? end('done', seen)
          : end(wish.kind === 'wrong code' && last.body.reason === 'confirmation_code_incorrect' ? 'done' : 'rejected');
      }
      isDisturbed = true;
      isUnknown ||= isOpen;
      if (isKeyed) {
        if (last !== 'lost' && !last.body.retryable) return end('unknown');
        if (isOver()) return end('unknown', wish.ids, true);
        await pause(last);
      } else if (isOpen) {
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
      const body: Body = typeof last === 'object' ? last.body : {};
      const { kind, operation, subjects, slots = [] } = wish;
      const confirmation = body.confirmation ?? body.appointments?.[0]?.confirmation;
      const confirmationId = wish.confirmationId ?? confirmation?.id;
      const secretHash = body.secret === undefined ? undefined : hashOf(body.secret);
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
        slots,
        secretHash,
        reason,
        isDisturbed,
        internalErrors,
        isStuck,
      };
      writes.push(write);
      return { ...write, pageUrl: confirmation?.page_url ?? undefined };
    }
  }

  const isOver = () => healedAt !== undefined && Date.now() > healedAt + lastPatienceMilliseconds;

  async function pause(response: Response | 'lost'): Promise<void> {
    await sleep(response === 'lost' ? 300 : Math.max(200, response.retryAfterSeconds * 1_000));
  }

  /** Repeats a read until it has a result. */
  async function until<Result>(
    what: string,
    attempt: () => Promise<{ readonly result: Result } | undefined>,
  ): Promise<Result> {
    for (;;) {
      const found = await attempt();
      if (found) return found.result;
      if (isOver()) throw new Error(`${what} gets no response`);
      await sleep(300);
    }
  }

  /** Reads until there is a response. `undefined`: there is no such thing. */
  const read = <Result>(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Result | undefined> =>
    until(`GET ${path}`, async () => {
      const response = await sendRequest(world, { method: 'GET', path }, headers);
      if (typeof response !== 'object') return undefined;
      if (response.status === 404) return { result: undefined };
      return response.status === 200 ? { result: response.body as Result } : undefined;
    });

  return {
    writes,
    settle,
    read,
    /** Reads all pages of a list. */
    async readAll<Item>(path: string, field: string): Promise<readonly Item[]> {
      const items: Item[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Record<string, unknown> = (await read(`${path}?limit=100${query}`)) ?? {};
        items.push(...((page[field] ?? []) as Item[]));
        cursor = (page.next_cursor as string | undefined) ?? null;
      }
      return items;
    },
    /** Reads the hidden fields of the form of a page. */
    readForm: (path: string, session: string) =>
      until(`GET ${path}`, async () => {
        const html = await openPage(world, path, session);
        return html === undefined ? undefined : { result: hiddenFields(html) };
      }),
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
