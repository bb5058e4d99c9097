import { careUnits } from '../measure/gateway.ts';
import type { Creating } from '../measure/load.ts';

const pathOf = (id: string) => `/api/emrs/sandbox-no/care-units/${id}`;
/** A care unit of the sandbox: five resources, open on weekdays. */
export const careUnit = pathOf(careUnits[0]);
export const appointments = `${careUnit}/appointments`;

export interface Creation {
  readonly patient_id: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  readonly start_time: string;
  readonly end_time: string;
}

const hours = ['08', '09', '10', '11', '13', '14', '15'];
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** A booking in the gateway. */
export interface Booking extends Creating {
  readonly body: Creation;
}

/** Bookings of all times from the next week on in all care units, each once: an endless supply. */
export function everyTime(): () => Booking {
  const times = generate();
  return () => times.next().value as Booking;
}

const [practitioners, resources] = [4, 5];
const patients = ['p-1', 'p-2', 'p-3'];

function* generate(): Generator<Booking, never> {
  let turn = 0;
  for (let day = Date.now() + 7 * dayMilliseconds; ; day += dayMilliseconds) {
    const date = new Date(day);
    if (date.getUTCDay() === 0 || date.getUTCDay() === 6) continue;
    for (const hour of hours) {
      for (const minutes of [':00', ':30']) {
        for (const [place, id] of careUnits.entries()) {
          for (let n = 1; n <= practitioners; n++) {
            const patient = patients[turn++ % patients.length] as string;
            const resource = `r-${place * resources + n}`;
            yield {
              path: `${pathOf(id)}/appointments`,
              body: creation(date, `${hour}${minutes}`, { patient, resource }),
            };
          }
        }
      }
    }
  }
}

function creation(
  date: Date,
  time: string,
  { patient, resource }: { readonly patient: string; readonly resource: string },
): Creation {
  const day = date.toISOString().slice(0, 10);
  const hour = time.slice(0, 2);
  const end = time.endsWith(':00') ? `${hour}:30` : `${String(Number(hour) + 1).padStart(2, '0')}:00`;
  return {
    patient_id: patient,
    resource_id: resource,
    healthcare_service_id: 'consultation',
    start_time: `${day}T${time}:00`,
    end_time: `${day}T${end}:00`,
  };
}

/** Number of variants of a request, so that concurrent ones differ: the gateway shares the work of identical ones. */
export const variants = 100;

/** `path` with each of a hundred ranges that begin a second apart. */
export function variantsOf(path: (range: string) => string, from: number, to: number): string[] {
  return Array.from({ length: variants }, (_, second) => path(days(from, to, second)));
}

/** A range of days from now, as query parameters. */
export function days(from: number, to: number, seconds = 0): string {
  const now = Date.now() + seconds * 1000;
  const day = (offset: number) => new Date(now + offset * dayMilliseconds).toISOString();
  return new URLSearchParams({ start: day(from), end: day(to) }).toString();
}
