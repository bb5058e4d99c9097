import { certificateFinding } from '../../../ehr/certificates.ts';
import type { EhrConnection } from '../../../ehr/connection.ts';
import { readChangedEhrs } from '../../../ehr/daily-check.ts';
import type { EhrFigures } from '../../../ehr/figures.ts';
import { unavailableSince } from '../../../events/availability-events.ts';
import { html } from '../../../html/html.ts';
import type { StuckWrites } from '../../../unfinished-writes/stuck-writes.ts';
import { interruptedTries } from '../../audit/activity.ts';
import { checkForm, ehrLink, endOf, noteForm, resumeForm } from '../../ehrs/ehr-parts.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { counted } from '../../frame/parts.ts';
import { sumUp } from '../chart.ts';
import type { Need } from './need.ts';

/** Fewer calls, or failures, say little about an EHR. */
const fewest = 5;
/** Milliseconds. People who wait for a page leave. */
const longest = 5_000;
/** Of the calls of the last five minutes. */
const highShare = 0.2;

const obstacles: Readonly<Record<Exclude<EhrFigures['state'], 'closed'>, string>> = {
  half_open: 'The EHR was not available, and the gateway is trying again',
  open: 'The EHR is not available',
  paused: 'Operators have paused the EHR',
  not_connected: 'The connection could not be opened since the start, and the gateway keeps trying',
};

/** EHRs that this process cannot reach, with the operations that wait for them, then those that fail many calls or are slow. */
export async function ehrsInNeed(context: SignedIn, stuck: readonly StuckWrites[]): Promise<Need[]> {
  const ehrs = [...context.deps.services.ehrs.values()];
  const ordered = [
    ...ehrs.filter((ehr) => isBrokenEhr(context, ehr)),
    ...ehrs.filter((ehr) => !isBrokenEhr(context, ehr)),
  ];
  const needs = await Promise.all(ordered.map((ehr) => ehrInNeed(context, ehr, stuck)));
  return needs.flatMap((need) => (need ? [need] : []));
}

/** What is wrong with one EHR, as this process sees it. */
export async function ehrInNeed(
  context: SignedIn,
  ehr: EhrConnection,
  stuck: readonly StuckWrites[],
): Promise<Need | undefined> {
  return isBrokenEhr(context, ehr) ? brokenEhr(context, ehr, stuck) : failingEhr(context, ehr);
}

async function brokenEhr(context: SignedIn, ehr: EhrConnection, stuck: readonly StuckWrites[]): Promise<Need> {
  const { services, readFigures } = context.deps;
  const figures = readFigures(ehr);
  const waiting = stuck.filter(({ emr, isSuspended }) => emr === ehr.id && !isSuspended);
  const operations = waiting.reduce((sum, { count }) => sum + count, 0);
  const waits = operations === 0 ? '' : `; ${counted(operations, 'operation waits', 'operations wait')} for it`;
  return {
    subject: ehr.name,
    what: html`${figures.state === 'closed' ? '' : obstacles[figures.state]}${figures.pause ? html` until ${endOf(figures.pause)}` : lastCause(figures)}${waits}`,
    since: figures.pause?.since ?? (await unavailableSince(services.db, ehr.id)),
    // A patient's operations can wait for several causes.
    patients: new Set(waiting.flatMap(({ patients }) => [...patients])).size,
    mend: [figures.pause ? resumeForm(context, ehr) : checkForm(context, ehr), ehrLink(context, ehr)],
  };
}

function failingEhr(context: SignedIn, ehr: EhrConnection): Need | undefined {
  const figures = context.deps.readFigures(ehr);
  const { calls, failures, median } = sumUp(figures.minutes.slice(-5));
  const isFailing = failures >= fewest && failures >= highShare * calls;
  const isSlow = median !== null && median > longest && calls - failures >= fewest;
  if (!isFailing && !isSlow) return undefined;
  return {
    subject: ehr.name,
    what: isFailing
      ? `${failures} of ${counted(calls, 'call')} failed in the last five minutes${lastCause(figures)}`
      : `The EHR is slow: half of ${counted(calls, 'call')} in the last five minutes took longer than ${longest / 1000} seconds`,
    mend: [checkForm(context, ehr), ehrLink(context, ehr)],
  };
}

function lastCause({ failedCalls: [last] }: EhrFigures): string {
  return last ? `: ${last.cause}` : '';
}

/** Whether operations of an EHR wait for the EHR itself. */
export function isBrokenEhr({ deps }: SignedIn, ehr: EhrConnection | undefined): boolean {
  return ehr !== undefined && deps.readFigures(ehr).state !== 'closed';
}

/** Certificates for EHRs that expire soon, and TLS files that cannot be used. */
export function certificatesInNeed(context: SignedIn): Need[] {
  return [...context.deps.services.ehrs.values()].flatMap((ehr) => {
    const { name: subject, tls } = ehr;
    const mend = ehrLink(context, ehr);
    const fault = tls?.fault();
    const found = certificateFinding(tls, context.deps.now());
    return [
      ...(fault === undefined ? [] : [{ subject, what: `New TLS files are not used: ${fault}`, mend }]),
      ...(found === undefined || found.status === 'ok'
        ? []
        : [{ subject, what: `The client certificate of the gateway ${found.detail}`, mend }]),
    ];
  });
}

/** EHRs that offer something else than before, as the daily checks saw. */
export async function changedEhrsInNeed(context: SignedIn): Promise<Need[]> {
  const { db, ehrs } = context.deps.services;
  return (await readChangedEhrs(db)).flatMap(({ emr, since, changes }) => {
    const ehr = ehrs.get(emr);
    if (!ehr) return [];
    const told = changes.map(({ subject, gone, added }) =>
      [subject, ...gone.map((word) => `−${word}`), ...added.map((word) => `+${word}`)].join(' '),
    );
    const mend = [noteForm(context, ehr), checkForm(context, ehr), ehrLink(context, ehr)];
    return { subject: ehr.name, what: `The EHR offers something else than before: ${told.join('; ')}`, since, mend };
  });
}

/** EHRs where a booking was tried by a gateway that was killed meanwhile. */
export async function triesInNeed(context: SignedIn): Promise<Need[]> {
  return (await interruptedTries(context.deps.services.db)).map(({ emr, since }) => ({
    subject: context.deps.services.ehrs.get(emr)?.name ?? emr,
    what: 'A booking was tried, and its end is not known: an appointment may stand',
    since,
    mend: html`<a href="${linkTo(context, `connections/${emr}/try`)}">Look, and cancel it<span class="aside">: ${emr}</span></a>`,
  }));
}
