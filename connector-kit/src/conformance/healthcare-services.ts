import { capability } from './check.ts';
import { expectSame, expectThat, given, inOrder, operation } from './expect.ts';

export const healthcareServices = capability(
  'healthcare-services',
  (connector) => connector.listHealthcareServices !== undefined,
  {
    'lists each healthcare service once, ordered by id, with a name': async ({ connector, careUnit }) => {
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      const ids = services.map(({ id }) => id);
      expectThat(
        inOrder(ids, (id) => [id]),
        'The services are not in the order of their ids (code units)',
      );
      expectSame(new Set(ids).size, ids.length, 'Number of distinct service ids');
      for (const { id, name, durationMinutes, codes = [] } of services) {
        expectThat(
          codes.every(({ system, code }) => code !== '' && system !== ''),
          `Service ${id} has a code without a text, or an empty system`,
        );
        expectThat(id !== '' && name !== '', 'A service has no id or no name');
        expectThat(durationMinutes === null || durationMinutes > 0, `Service ${id} has a length that is not positive`);
      }
    },

    'lists the known healthcare service': async ({ connector, careUnit, facts }) => {
      const id = given(facts.healthcareServiceId, 'no healthcare service is given');
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      expectThat(
        services.some((service) => service.id === id),
        `The service ${id} is not listed`,
      );
    },

    'lists every healthcare service that a resource names': async ({ connector, careUnit }) => {
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      const ids = new Set(services.map(({ id }) => id));
      const resources = await operation(connector, 'listResources')(careUnit);
      for (const { id, healthcareServiceIds } of resources) {
        const unlisted = healthcareServiceIds.find((it) => !ids.has(it));
        expectThat(unlisted === undefined, `Resource ${id} names a service that is not listed: ${unlisted}`);
      }
    },
  },
);
