/** Where the benchmarks book: a care unit of the sandbox, five resources, open on weekdays. */
export const careUnit = '/api/emrs/sandbox-no/care-units/oslo-sentrum';
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

/** Bookings of all times from the next week on, each once: an endless supply. */
export function everyTime(): () => Creation {
  const times = generate();
  return () => times.next().value as Creation;
}

function* generate(): Generator<Creation, never> {
  for (let day = Date.now() + 7 * dayMilliseconds; ; day += dayMilliseconds) {
    const date = new Date(day);
    if (date.getUTCDay() === 0 || date.getUTCDay() === 6) continue;
    for (const hour of hours) {
      for (const minutes of [':00', ':30']) {
        for (const resource of ['r-1', 'r-2', 'r-3', 'r-4']) yield creation(date, `${hour}${minutes}`, resource);
      }
    }
  }
}

function creation(date: Date, time: string, resource: string): Creation {
  const day = date.toISOString().slice(0, 10);
  const hour = time.slice(0, 2);
  const end = time.endsWith(':00') ? `${hour}:30` : `${String(Number(hour) + 1).padStart(2, '0')}:00`;
  return {
    patient_id: 'p-3',
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
