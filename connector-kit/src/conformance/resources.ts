import { identifierFault } from '../identifiers.ts';
import type { Resource } from '../records.ts';
import { capability } from './check.ts';
import { expectSame, expectThat, given, inOrder, operation } from './expect.ts';
import type { Subject } from './subject.ts';

async function all({ connector, careUnit }: Subject): Promise<readonly Resource[]> {
  return operation(connector, 'listResources')(careUnit);
}

export const resources = capability(
  'resources',
  ({ findResource, listResources }) => findResource !== undefined || listResources !== undefined,
  {
    'lists each resource once, ordered by id': async (subject) => {
      const listed = await all(subject);
      const ids = listed.map(({ id }) => id);
      expectThat(
        inOrder(ids, (id) => [id]),
        'The resources are not in the order of their ids (code units)',
      );
      expectSame(new Set(ids).size, ids.length, 'Number of distinct resource ids');
      for (const { id, identifiers } of listed) {
        expectSame(identifiers[0], { type: 'emr_id', value: id }, `First identifier of resource ${id}`);
      }
    },

    'ids of resources can be sent in requests': async (subject) => {
      for (const { id } of await all(subject)) {
        const fault = identifierFault(id);
        expectThat(fault === undefined, `The id of a resource ${fault}`);
      }
    },

    'every identifier of a resource finds the same resource': async (subject) => {
      const { connector, careUnit, facts } = subject;
      const known = facts.resource ? [{ id: undefined, identifiers: facts.resource }] : await all(subject);
      const first = given(known[0], 'the care unit has no resource');
      const claimed = first.identifiers.filter(({ type }) =>
        connector.capabilities.resourceIdentifierTypes.includes(type),
      );
      const ids = new Set<string>();
      for (const identifier of claimed) {
        const found = await operation(connector, 'findResource')(careUnit, identifier);
        expectThat(found !== null, `A known resource is not found by ${identifier.type}`);
        ids.add(found.id);
      }
      expectSame(ids.size, 1, 'Number of distinct resources found by the identifiers of one');
    },

    'listing and finding return the same resource': async (subject) => {
      const { connector, careUnit } = subject;
      for (const resource of (await all(subject)).slice(0, 5)) {
        const found = await operation(connector, 'findResource')(careUnit, { type: 'emr_id', value: resource.id });
        expectSame(found, resource, `Resource ${resource.id}, found by its id`);
      }
    },

    'an unknown resource returns null': async ({ connector, careUnit }) => {
      const found = await operation(connector, 'findResource')(careUnit, { type: 'emr_id', value: 'no-such-resource' });
      expectSame(found, null, 'Result for an unknown resource');
    },

    'a resource of another care unit is not found': async (subject) => {
      const { connector, careUnit } = subject;
      const { id } = await foreignResource(subject);
      const found = await operation(connector, 'findResource')(careUnit, { type: 'emr_id', value: id });
      expectSame(found?.id ?? null, null, 'Result for a resource of another care unit');
      if (connector.listResources) {
        const listed = (await all(subject)).some((resource) => resource.id === id);
        expectThat(!listed, 'A resource of another care unit is listed');
      }
    },
  },
);

/** A resource of the other care unit. */
export async function foreignResource({ connector, otherCareUnit, facts }: Subject): Promise<{ readonly id: string }> {
  const other = given(otherCareUnit, 'no other care unit is configured');
  if (facts.foreignResourceId !== undefined) return { id: facts.foreignResourceId };
  const [resource] = await operation(connector, 'listResources')(other);
  return given(resource, 'the other care unit has no resource');
}
