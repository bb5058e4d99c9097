import { inQuery } from '../../problems/places.ts';
import { problemAt } from '../../problems/problem.ts';
import { splitAt } from './parameters.ts';

const bookable = ['Practitioner', 'Location', 'Device'] as const;
/** What the parameters that are references can refer to here. */
const targets: Readonly<Record<string, readonly string[]>> = {
  patient: ['Patient'],
  actor: ['Patient', 'HealthcareService', ...bookable],
  practitioner: ['Practitioner'],
  location: ['Location'],
  organization: ['Organization'],
  service: ['HealthcareService'],
  slot: ['Slot'],
  schedule: ['Schedule'],
  'schedule.actor': ['HealthcareService', ...bookable],
  // As BaRS writes it, although names are case sensitive.
  'Schedule.actor': ['HealthcareService', ...bookable],
};

/**
 * `actor:Patient=p-1` as `actor=Patient/p-1`: https://hl7.org/fhir/R4/search.html#reference
 *
 * @returns what was sent, if its name has no type of a reference
 * @throws Problem `request_invalid` for a reference to another type
 */
export function withTypeInValue(sent: readonly [string, string]): readonly [string, string] {
  const [, name = '', type = ''] = /^(.+):([A-Z][A-Za-z]+)$/.exec(sent[0]) ?? [];
  if (!targets[name]?.includes(type)) return sent;
  const references = splitAt(sent[1], ',').map((text) => {
    const [id, named = type] = text.split('/').reverse();
    if (named === type) return text.includes('/') ? text : `${type}/${id}`;
    throw problemAt(inQuery(sent[0]), 'request_invalid', `The query parameter ${sent[0]} must name a ${type}.`);
  });
  return [name, references.join(',')];
}
