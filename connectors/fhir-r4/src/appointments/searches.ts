import { ConnectorError } from '@crossward/connector-kit';
import { typeOf } from '../fhir.ts';
import { chunks } from '../server/chunks.ts';
import type { SearchParameters } from '../server/client.ts';
import { type Habits, lists, type Way } from '../server/habits.ts';

/** Appointments that a search is for. The caller filters what it gets, because a search may find others too. */
export interface WantedAppointments {
  /** References of one patient's records. With them, no actor is named: a patient has few appointments. */
  readonly patients?: readonly string[];
  /** `system|value` of one patient's numbers, for Appointments that name the patient by one, and the parameter for it. */
  readonly numbers?: { readonly of: 'patient' | 'actor'; readonly tokens: readonly string[] } | undefined;
  /** References of people, places and services. Several appointments may name each. */
  readonly actors?: readonly string[];
  /** Their start. */
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
  readonly others: SearchParameters;
}

/** With more actors than this, the search does not name them, if the server allows that. */
const mostActors = 40;

/** Wider than any appointment, for a server that requires a period. */
const everything = { from: new Date('1900-01-01T00:00:00Z'), before: new Date('2100-01-01T00:00:00Z') };

type Parameter = readonly [name: string, value: string];

/**
 * Searches for Appointments in the way that the server accepts. Some have no parameter `patient`, but `actor` (gematik
 * ISiK), or no `actor`, but `practitioner` and `location`, and require a period (Oracle Health).
 *
 * @param run runs one search. It is called several times if the server takes the actors in several searches
 */
export async function searchAppointments<Found>(
  habits: Habits,
  { patients = [], numbers, actors = [], from, before, others }: WantedAppointments,
  run: (parameters: SearchParameters) => Promise<Found>,
): Promise<Found[]> {
  const bounds = (period: Pick<WantedAppointments, 'from' | 'before'>): Parameter[] => [
    ...(period.from ? [['date', `ge${period.from.toISOString()}`] as const] : []),
    ...(period.before ? [['date', `lt${period.before.toISOString()}`] as const] : []),
  ];
  const isBounded = from !== undefined && before !== undefined;
  const given = bounds({ from, before });
  const complete = bounds({ from: from ?? everything.from, before: before ?? everything.before });
  const names = numbers
    ? [namesOf(`${numbers.of}:identifier`, numbers.tokens)]
    : patients.length > 0
      ? namesOfPatient(habits, patients)
      : namesOfActors(habits, actors);
  const ways = names.flatMap(({ name, groups }): Way<Found[]>[] => {
    const inPeriod = (period: readonly Parameter[]) => () =>
      Promise.all(groups().map((group) => run([...group, ...period, ...others])));
    return [
      { name, ask: inPeriod(given) },
      ...(isBounded ? [] : [{ name: `${name}, within a period`, ask: inPeriod(complete) }]),
    ];
  });
  const subject = numbers
    ? 'of a number'
    : patients.length > 0
      ? 'of a patient'
      : actors.length > mostActors
        ? 'of everybody'
        : 'of a resource';
  return habits.firstAccepted(`Appointments ${subject}${isBounded ? ' in a period' : ''}`, ways);
}

interface Names {
  readonly name: string;
  /** The parameters of each search. */
  groups(): readonly (readonly Parameter[])[];
}

function namesOf(name: string, values: readonly string[]): Names {
  return { name: `by ${name}`, groups: () => [[[name, values.join(',')]]] };
}

function namesOfPatient(habits: Habits, patients: readonly string[]): readonly Names[] {
  const by = (name: string) => namesOf(name, patients);
  const isUnlisted = lists(habits, 'Appointment', 'patient') === false && lists(habits, 'Appointment', 'actor');
  return isUnlisted ? [by('actor'), by('patient')] : [by('patient'), by('actor')];
}

function namesOfActors(habits: Habits, actors: readonly string[]): readonly Names[] {
  const inChunks = (name: string, some: readonly string[]) =>
    chunks(some, mostActors).map((chunk): Parameter[] => [[name, chunk.join(',')]]);
  const byActor: Names = { name: 'by actor', groups: () => inChunks('actor', actors) };
  const byType: Names = { name: 'by practitioner and location', groups: () => byTypeOf(actors, inChunks) };
  const unnamed: Names = { name: 'of everybody', groups: () => [[]] };
  const isUnlisted =
    lists(habits, 'Appointment', 'actor') === false &&
    ['practitioner', 'location'].some((name) => lists(habits, 'Appointment', name));
  if (isUnlisted) return [byType, byActor];
  return [...(actors.length > mostActors ? [unnamed] : []), byActor, byType];
}

function byTypeOf(
  actors: readonly string[],
  inChunks: (name: string, some: readonly string[]) => readonly (readonly Parameter[])[],
): readonly (readonly Parameter[])[] {
  const ofType = (type: string) => actors.filter((actor) => typeOf(actor) === type);
  const groups = [...inChunks('practitioner', ofType('Practitioner')), ...inChunks('location', ofType('Location'))];
  if (groups.length > 0 || actors.length === 0) return groups;
  throw new ConnectorError('unsupported', 'The EHR finds appointments of practitioners and locations only');
}
