import type { Basic, Extension } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../problems/problem.ts';
import { fhirRead, fhirSearch } from '../interaction.ts';
import { searchSet } from '../search/bundle.ts';
import { anyOf, codesOf, readSearch } from '../search/input.ts';
import { pagesById } from '../search/pages.ts';
import { placeOf } from '../search/place.ts';
import { type Topic, topics } from './topics.ts';

const type = 'Basic';
const typeSystem = 'http://hl7.org/fhir/fhir-types';
const r5 = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-SubscriptionTopic.';
const r4b = 'http://hl7.org/fhir/4.3/StructureDefinition/extension-SubscriptionTopic.';

/** A SubscriptionTopic as R4 has it: https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/components.html#subscription-topics-in-r4 */
function toBasic({ id, url, title, description, types }: Topic): Basic & { readonly id: string } {
  const interactions = types.includes('appointment.booked') ? ['create', 'update'] : ['update'];
  const trigger: Extension[] = [
    { url: 'description', valueMarkdown: description },
    { url: 'resource', valueUri: 'http://hl7.org/fhir/StructureDefinition/Appointment' },
    ...interactions.map((valueCode) => ({ url: 'supportedInteraction', valueCode })),
  ];
  const filters = ['actor', 'practitioner', 'location'].map((valueString) => ({
    url: `${r4b}canFilterBy`,
    extension: [
      { url: 'resource', valueUri: 'Appointment' },
      { url: 'filterParameter', valueString },
    ],
  }));
  return {
    resourceType: type,
    id,
    extension: [
      { url: `${r5}url`, valueUri: url },
      { url: `${r5}title`, valueString: title },
      { url: `${r5}description`, valueMarkdown: description },
      { url: `${r4b}resourceTrigger`, extension: trigger },
      ...filters,
    ],
    modifierExtension: [{ url: `${r5}status`, valueCode: 'active' }],
    code: { coding: [{ system: typeSystem, code: 'SubscriptionTopic' }] },
  };
}

async function read(_request: FastifyRequest, id: string): Promise<Basic> {
  const topic = topics.find((it) => it.id === id);
  if (topic) return toBasic(topic);
  throw new Problem('route_not_found', { detail: 'No topic of Subscriptions has this id.' });
}

async function search(request: FastifyRequest) {
  const search = readSearch(request, ['_id', 'code']);
  const ids = anyOf(search, '_id');
  const isTopic = codesOf(search, 'code', typeSystem)?.includes('SubscriptionTopic') ?? true;
  const place = placeOf(request, type, search);
  const load = async () => topics.map(toBasic).filter(({ id }) => isTopic && (ids?.includes(id) ?? true));
  type Found = ReturnType<typeof toBasic>;
  return searchSet<Found, Basic>(search, place, { page: pagesById(request, place, load), show: (it) => it });
}

const declared = { scopes: ['webhooks:manage'], audit: 'none' } as const;

/** What Subscriptions can be told of, for clients that look for it. */
export const topicInteractions = [
  fhirRead(type, { name: 'fhir_read_basic', ...declared }, read),
  ...fhirSearch(type, { name: 'fhir_search_basic', ...declared }, search),
];
