import { setTimeout as sleep } from 'node:timers/promises';
import { riverside, sodermalm } from '../../requests/bookings.ts';
import { draftsEhr } from '../drafts-ehr.ts';
import type { Kind } from '../history.ts';
import { type About, type AppointmentWrites, idOf, isDone } from './appointment-writes.ts';
import type { Living } from './living.ts';

export const draftsCareUnit = `/api/emrs/${draftsEhr}/care-units/sodermalm`;
/** How long a caller waits for a code. */
const messageMilliseconds = 30_000;

interface Message {
  readonly appointment_id: string;
  readonly text: string;
}

/** Bookings and cancellations that need a code. */
export function codeLives(living: Living, { book, change, cancel }: AppointmentWrites) {
  const { world, callers, random } = living;
  const { settle, read } = callers;

  async function booking(kind: 'booking by code' | 'draft', careUnit: string): Promise<void> {
    const { about, booked } = await book(kind, careUnit);
    if (!isDone(booked) || about.confirmationId === undefined) return;
    if (random() < 0.2) await cancel(about);
    else await enterCodes('confirmation', about, 'booked', booked.pageUrl);
  }

  async function cancellation(count: 1 | 2): Promise<void> {
    const patient = `p-${1 + Math.floor(random() * 18)}`;
    const made: About[] = [];
    for (let more = 0; more < count; more++) {
      const { about, booked } = await book('booking', riverside, { patient });
      if (!isDone(booked)) return;
      made.push(about);
    }
    const subjects = made.flatMap((it) => it.subjects);
    const originals = { careUnit: riverside, subjects, ids: made.flatMap((it) => it.ids) };
    const first = await change(count === 1 ? 'first step' : 'bulk first step', originals, {
      body: { status: 'cancelled' },
    });
    const { ids, confirmationId, pageUrl } = first;
    if (!isDone(first) || confirmationId === undefined) return;
    const about = { careUnit: riverside, subjects, ids, confirmationId };
    await enterCodes(count === 1 ? 'second step' : 'bulk confirmation', about, 'cancelled', pageUrl);
  }

  /** Enters codes: perhaps wrong ones, perhaps after another code was sent, perhaps the right one. */
  async function enterCodes(kind: Kind, about: About, status: string, pageUrl: string | undefined): Promise<void> {
    let sent = 1;
    for (let wrong = 0; wrong < 2 && random() < 0.4; wrong++) {
      const entered = await change('wrong code', about, { body: { confirmation: { code: '00000' } } });
      if (entered.told === 'unknown') return;
    }
    if (random() < 0.4) {
      const resent = await resend(about, random() < 0.5 ? pageUrl : undefined);
      if (resent.told === 'unknown') return;
      if (isDone(resent)) sent++;
    }
    if (random() < 0.2) return;
    const code = await codeFor(idOf(about), sent);
    if (code !== undefined)
      await change(kind, about, { body: { confirmation: { code } }, seen: (found) => found.status === status });
  }

  /** @param pageUrl `undefined`: by the API */
  async function resend({ careUnit, subjects, ids, confirmationId }: About, pageUrl: string | undefined) {
    await world.database.query(
      `UPDATE confirmations SET last_code_sent_at = last_code_sent_at - interval '31 seconds' WHERE id = $1`,
      [confirmationId],
    );
    const request =
      pageUrl === undefined
        ? { method: 'POST' as const, path: `${careUnit}/appointments/${ids[0]}/confirmation` }
        : { path: new URL(pageUrl).pathname, fields: { action: 'resend' }, results: ['sent'] };
    const [kind, operation] =
      pageUrl === undefined
        ? (['resend', 'resend_confirmation'] as const)
        : (['resend on the page', 'resend_on_patient_page'] as const);
    return settle({ kind, operation, subjects, request, ids, confirmationId });
  }

  /** One shared read for all callers that wait for codes. */
  let mailbox: Promise<readonly Message[]> | undefined;
  function readMailbox(): Promise<readonly Message[]> {
    mailbox ??= sleep(300)
      .then(() => read<{ messages: Message[] }>('/demo/messages', { accept: 'application/json' }))
      .then((it) => it?.messages ?? [])
      .finally(() => {
        mailbox = undefined;
      });
    return mailbox;
  }

  async function codeFor(id: string, sent: number): Promise<string | undefined> {
    const until = Date.now() + messageMilliseconds;
    while (Date.now() < until) {
      const about = (await readMailbox()).filter(({ appointment_id }) => appointment_id === id);
      if (about.length >= sent) return /(?<!\d)\d{6}(?!\d)/.exec(about[0]?.text ?? '')?.[0];
    }
    return undefined;
  }

  return {
    held: () => booking('booking by code', sodermalm),
    draft: () => booking('draft', draftsCareUnit),
    oneCancellation: () => cancellation(1),
    severalCancellations: () => cancellation(2),
  };
}
