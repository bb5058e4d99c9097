import type { Connector } from '../connector.ts';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { Failure, NotChecked, NotClaimed } from './check.ts';

/** @throws Failure with these words */
export function expectThat(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Failure(words);
}

/** Compares by value; dates by instant. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [seen, wanted] = [show(actual), show(expected)];
  expectThat(seen === wanted, `${what}: expected ${shortened(wanted)}, saw ${shortened(seen)}`);
}

/** @throws Failure unless the promise is refused with one of these kinds */
export async function expectRefusal(
  promise: Promise<unknown>,
  kinds: ConnectorErrorKind | readonly ConnectorErrorKind[],
  what: string,
): Promise<void> {
  const wanted = [kinds].flat();
  const [outcome] = await Promise.allSettled([promise]);
  expectThat(outcome.status === 'rejected', `${what}: expected ${wanted.join(' or ')}, but it was done`);
  if (outcome.reason instanceof NotChecked || outcome.reason instanceof NotClaimed) throw outcome.reason;
  expectThat(
    outcome.reason instanceof ConnectorError && wanted.includes(outcome.reason.kind),
    `${what}: expected ${wanted.join(' or ')}, saw ${describe(outcome.reason)}`,
  );
}

/** The operation, called as the gateway calls it: by itself, not as a method. */
export function operation<Name extends keyof Connector>(
  connector: Connector,
  name: Name,
): NonNullable<Connector[Name]> {
  const method = connector[name];
  if (method === undefined) throw new NotChecked(`the connector has no ${name}`);
  return method;
}

/** @throws NotChecked with these words when there is nothing */
export function given<Value>(value: Value | undefined | null, words: string): Value {
  if (value === undefined || value === null) throw new NotChecked(words);
  return value;
}

/** An error in one line. Of a bug, with the place where it was thrown. */
export function describe(error: unknown): string {
  if (error instanceof ConnectorError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.name}: ${error.cause.message})` : '';
    return `ConnectorError ${error.kind}: ${error.message}${cause}`;
  }
  return error instanceof Error ? `${error.name}: ${error.message}${placeOf(error)}` : String(error);
}

/** The first place in a file, past what Node.js does by itself. */
function placeOf({ stack }: Error): string {
  const place = /^ +(at .+\.[cm]?[jt]s:\d+:\d+\)?)$/m;
  const [, found] = place.exec(stack ?? '') ?? [];
  return found === undefined ? '' : ` (${found})`;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** What can be told of an appointment without telling whose it is. */
export function facts({ id, state, start, end, comment, resourceId, healthcareServiceId, careUnitId }: Appointment) {
  return { id, state, start, end, comment, resourceId, healthcareServiceId, careUnitId };
}

/** Order of time, then ids by code unit. */
export function inOrder<Item>(items: readonly Item[], keys: (item: Item) => readonly (string | number)[]): boolean {
  return items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || compare(keys(before), keys(item)) <= 0;
  });
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index];
    if (other === undefined || value === other) continue;
    return value < other ? -1 : 1;
  }
  return 0;
}

export function slotKeys(slot: TimeSlot): (string | number)[] {
  return [slot.start.getTime(), slot.resourceId, slot.healthcareServiceId];
}

export function appointmentKeys(appointment: Appointment): (string | number)[] {
  return [appointment.start.getTime(), appointment.id];
}
