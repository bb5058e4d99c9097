import { checkAppointments, without } from './check-appointments.ts';
import { checkRecords } from './check-records.ts';
import { type Fault, type Finding, finding } from './findings.ts';
import { type History, mainEndpoint, type Snapshot, type Write } from './history.ts';

const latestEventSeconds = 5;
/** Kinds that name no patient, or whose success is a problem. */
const withoutAudit = /^(?:schedule|endpoint|operator:|wrong code)/;

/** Compares what callers were told with what is there. Returns what does not agree. */
export function check({ writes, snapshot }: History): Finding[] {
  return [
    ...checkAppointments(writes, snapshot),
    ...checkRecords(writes, snapshot),
    ...checkCounters(writes, snapshot),
    ...checkAudit(writes, snapshot),
    ...checkEvents(snapshot),
    ...checkMessages(snapshot),
    ...writes.flatMap((write) => [
      ...Array.from({ length: write.internalErrors }, () => finding('500', write, 'a response with 500')),
      ...(write.isStuck ? [finding('stuck', write, `no final response, at last ${write.reason}`)] : []),
    ]),
    ...snapshot.unfinished.map(({ promise, what }): Finding => {
      return {
        fault: promise.includes('event') ? 'without event' : 'stuck',
        kind: undefined,
        text: `${promise}: ${what}`,
      };
    }),
  ];
}

/** Wrong codes and codes sent: each is counted once, whatever was lost and repeated. */
function checkCounters(writes: readonly Write[], { confirmations }: Snapshot): Finding[] {
  return confirmations.flatMap(({ id, failedAttempts, codesSent }) => {
    const about = writes.filter(({ confirmationId }) => confirmationId === id);
    const wrong = about.flatMap((write): Write[] => {
      if (write.kind === 'wrong code') return [write];
      return write.reason === 'confirmation_code_incorrect' ? [{ ...write, told: 'done' }] : [];
    });
    const resends = about.filter(({ kind }) => kind.startsWith('resend'));
    return [
      ...compareCount(wrong, failedAttempts, 'counted twice', `${failedAttempts} wrong codes are counted`),
      ...compareCount(resends, codesSent - 1, 'doubled', `${codesSent} codes were sent`),
    ];
  });
}

function compareCount(writes: readonly Write[], count: number, tooMany: Fault, text: string): Finding[] {
  const last = writes.at(-1);
  if (!last) return [];
  const answers = writes.map((write) => `${write.told}: ${write.answers.join(', ')}`).join('; ');
  const least = writes.filter((write) => write.told === 'done').length;
  const most = writes.filter((write) => write.told !== 'rejected').length;
  if (count > most) return [finding(tooMany, last, `${text}, of at most ${most}: ${answers}`)];
  return count < least ? [finding('lost', last, `${text}, of at least ${least}: ${answers}`)] : [];
}

/** Every write that was made has an entry that says so. */
function checkAudit(writes: readonly Write[], snapshot: Snapshot): Finding[] {
  const successes = snapshot.audit.filter(({ outcome }) => outcome === 'success' || outcome === 'replayed');
  const requests = new Set(writes.flatMap(({ requestIds }) => requestIds));
  return writes
    .filter((write) => write.told === 'done' && !withoutAudit.test(write.kind))
    .flatMap((write) => {
      const ids = [
        ...write.ids,
        ...snapshot.appointments.filter(({ comment }) => write.subjects.includes(comment ?? '')).map(({ id }) => id),
      ];
      const has = successes.some(
        ({ operation, requestId, recordIds }) =>
          (operation === write.operation && write.requestIds.includes(requestId)) ||
          // What the gateway found out later names no request.
          (!requests.has(requestId) && recordIds.some((id) => ids.includes(id))),
      );
      return has ? [] : [finding('without audit entry', write, `no entry of success about ${ids.join(', ')}`)];
    });
}

function checkEvents({ events, deliveries }: Snapshot): Finding[] {
  const received = new Set(deliveries.find(({ endpoint }) => endpoint === mainEndpoint)?.eventIds);
  return events.flatMap(({ id, type, subject, lateSeconds, meanwhile }): Finding[] => {
    const text = `${type} ${id} of ${subject}`;
    return [
      ...(received.has(id) ? [] : [{ fault: 'without delivery', kind: undefined, text } as const]),
      ...(lateSeconds > latestEventSeconds
        ? [
            {
              fault: 'late event',
              kind: undefined,
              text: `${text} after ${lateSeconds} s, meanwhile ${meanwhile.join(', ')}`,
            } as const,
          ]
        : []),
    ];
  });
}

/** Each late message has one event, `message.delayed`. Other messages have none: the provider accepts them all. */
function checkMessages({ events, lateMessageIds }: Snapshot): Finding[] {
  const told = events.flatMap(({ type, messageId }) => (messageId === null ? [] : [`${type} of ${messageId}`]));
  const late = lateMessageIds.map((id) => `message.delayed of ${id}`);
  return [
    ...without(told, late).map((text) => ({ fault: 'doubled', kind: undefined, text }) as const),
    ...without(late, told).map((text) => ({ fault: 'without event', kind: undefined, text }) as const),
  ];
}
