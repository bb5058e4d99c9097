import { randomUUID } from 'node:crypto';
import type { EhrAppointment } from './appointment-reads.ts';
import { patients, practitioners, services } from './ehr-data.ts';

/** A request is rejected with a code. */
export class Rejection extends Error {}

type Body = Readonly<Record<string, unknown>>;
type Search = (body: Body) => readonly object[];

const halfHour = 30 * 60 * 1000;
const day = 48 * halfHour;

/** The EHR itself: half-hour times from 08:00 to 16:00 UTC on each of the next 90 days. It keeps appointments in memory. */
export function createEhr(): ReadonlyMap<string, Search> {
  const appointments = new Map<string, EhrAppointment>();
  /** Appointment ids by write id. */
  const writes = new Map<string, string>();

  const isTaken = (practitioner: unknown, start: number, end: number, freeing: readonly unknown[]) =>
    [...appointments.values()].some(
      (it) =>
        it.practitioner === practitioner &&
        it.status !== 'cancelled' &&
        !freeing.includes(it.id) &&
        Date.parse(it.start) < end &&
        start < Date.parse(it.end),
    );

  const freeTimes = ({ department, from, to, freeing = [] }: Body) => {
    const earliest = Math.max(Date.parse(String(from)), Date.now());
    const latest = Math.min(Date.parse(String(to)), Date.now() + 90 * day);
    const times: object[] = [];
    for (let start = Math.ceil(earliest / halfHour) * halfHour; start + halfHour <= latest; start += halfHour) {
      if (!isOpen(start)) continue;
      for (const { id: practitioner, services: offered } of practitioners.filter(
        (it) => it.department === department,
      )) {
        if (isTaken(practitioner, start, start + halfHour, freeing as unknown[])) continue;
        for (const service of offered) {
          times.push({ id: randomUUID(), practitioner, service, start: iso(start), end: iso(start + halfHour) });
        }
      }
    }
    return times;
  };

  const requireBookable = ({ department, practitioner, service, start, end }: Body, id?: string) => {
    const found = practitioners.find((it) => it.id === practitioner && it.department === department);
    if (!found) throw new Rejection('unknown_practitioner');
    if (!services.some((it) => it.id === service)) throw new Rejection('unknown_service');
    const [first, last] = [Date.parse(String(start)), Date.parse(String(end))];
    const isOnGrid = first % halfHour === 0 && last % halfHour === 0 && first < last;
    const isInHours = isOpen(first) && isOpen(last - halfHour) && last - first < day / 2;
    const isSoon = first >= Date.now() && last <= Date.now() + 90 * day;
    const isOffered = found.services.includes(String(service));
    if (!isOnGrid || !isInHours || !isSoon || !isOffered || isTaken(practitioner, first, last, [id])) {
      throw new Rejection('not_free');
    }
  };

  const known = ({ id, department }: Body): EhrAppointment => {
    const found = appointments.get(String(id));
    if (found?.department !== department) throw new Rejection('unknown_appointment');
    return found as EhrAppointment;
  };

  /** Does a write once, whatever its body says the second time. Nothing else runs in between. */
  const once =
    (write: (body: Body) => EhrAppointment): Search =>
    (body) => {
      const writeId = String(body.writeId);
      const earlier = appointments.get(writes.get(writeId) ?? '');
      if (earlier) return [earlier];
      const made = write(body);
      appointments.set(made.id, made);
      writes.set(writeId, made.id);
      return [made];
    };

  return new Map<string, Search>([
    [
      '/patients/search',
      ({ id, nhs }) => patients.filter((it) => (id === undefined ? [nhs].flat().includes(it.nhs) : it.id === id)),
    ],
    ['/services/search', () => services],
    ['/practitioners/search', ({ department }) => practitioners.filter((it) => it.department === department)],
    ['/free-times/search', freeTimes],
    [
      '/appointments/search',
      ({ department, ids, patient, practitioner, from, to }) =>
        [...appointments.values()].filter(
          (it) =>
            it.department === department &&
            (!Array.isArray(ids) || ids.includes(it.id)) &&
            (patient === undefined || it.patient === patient) &&
            (practitioner === undefined || it.practitioner === practitioner) &&
            (from === undefined || Date.parse(it.end) > Date.parse(String(from))) &&
            (to === undefined || Date.parse(it.start) < Date.parse(String(to))),
        ),
    ],
    [
      '/writes/search',
      ({ department, write }) =>
        [...appointments.values()].filter((it) => it.department === department && writes.get(String(write)) === it.id),
    ],
    [
      '/appointments/book',
      once(({ writeId: _, ...wanted }) => {
        if (!patients.some(({ id }) => id === wanted.patient)) throw new Rejection('unknown_patient');
        requireBookable(wanted);
        return { note: null, ...wanted, id: randomUUID(), status: 'booked' } as EhrAppointment;
      }),
    ],
    [
      '/appointments/change',
      once(({ writeId: _, ...wanted }) => {
        const current = known(wanted);
        if (current.status === 'cancelled') throw new Rejection('cancelled');
        const next = { ...current, ...wanted } as EhrAppointment;
        const isMove = wanted.start !== undefined || wanted.practitioner !== undefined;
        if (isMove && current.status === 'arrived') throw new Rejection('started');
        if (isMove) requireBookable({ ...next }, current.id);
        return next;
      }),
    ],
    [
      '/appointments/cancel',
      once(({ writeId: _, ...wanted }) => {
        const current = known(wanted);
        if (current.status === 'arrived') throw new Rejection('started');
        if (current.status === 'cancelled') return current;
        return { ...current, ...wanted, status: 'cancelled' } as EhrAppointment;
      }),
    ],
  ]);
}

function isOpen(start: number): boolean {
  const hour = new Date(start).getUTCHours();
  return hour >= 8 && hour < 16;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
