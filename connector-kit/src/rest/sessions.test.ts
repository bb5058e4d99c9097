import { expect, test } from 'vitest';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import { createSessions } from './sessions.ts';

function sessions(options: { lifetime?: number; refuses?: () => boolean; fails?: ConnectorErrorKind } = {}) {
  const clock = { now: 0 };
  const known = new Set<number>();
  const formers: (number | undefined)[] = [];
  const made = createSessions<{ readonly id: number; readonly endsAt: Date }, number>({
    async signIn(former) {
      formers.push(former?.id);
      if (options.refuses?.()) throw new ConnectorError('rejected', 'No', { refusal: { status: 401 } });
      if (options.fails) throw new ConnectorError(options.fails, 'No answer');
      known.add(formers.length);
      return { id: formers.length, endsAt: new Date(clock.now + (options.lifetime ?? 1e6)) };
    },
    hasEnded: (status) => status === 401,
    endsAt: ({ endsAt }) => endsAt,
    pauseMilliseconds: 60_000,
    now: () => new Date(clock.now),
  });
  const ask = () => made.in(async ({ id }) => (known.has(id) ? 200 : 401));
  return { made, ask, known, formers, clock };
}

test('callers share one sign-in, also after the session has ended', async () => {
  const { ask, known, formers } = sessions();
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  known.clear();
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
  expect(formers).toEqual([undefined, 1]);
});

test('a session that is about to end is replaced before a request', async () => {
  const { ask, formers, clock } = sessions({ lifetime: 1_000 });
  await ask();
  clock.now = 1_000;
  await ask();
  expect(formers).toEqual([undefined, 1]);
});

test('a session that is not known at once is no endless loop', async () => {
  const { made, formers } = sessions();
  await expect(made.in(async () => 401)).rejects.toMatchObject({ kind: 'rejected', fault: true });
  expect(formers).toHaveLength(2);
});

test('a sign-in that was refused is tried again after the pause', async () => {
  let refuses = true;
  const { ask, formers, clock } = sessions({ refuses: () => refuses });
  await expect(ask()).rejects.toMatchObject({ kind: 'rejected' });
  await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 60 });
  expect(formers).toHaveLength(1);
  [refuses, clock.now] = [false, 60_000];
  expect(await ask()).toBe(200);
});

test.each(['timeout', 'connection_closed', 'outcome_unknown'] as const)(
  'a sign-in without an answer (%s) is an EHR that is away: nothing else was sent',
  async (fails) => {
    await expect(sessions({ fails }).ask()).rejects.toMatchObject({ kind: 'unavailable' });
  },
);
