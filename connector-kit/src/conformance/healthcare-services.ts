import { capability } from './check.ts';
import { expectSame, expectThat, given, inOrder, operation } from './expect.ts';

export const healthcareServices = capability(
  'healthcare-services',
  (connector) => connector.listHealthcareServices !== undefined,
  {
    'are listed by id, each once, with a name': async ({ connector, careUnit }) => {
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      const ids = services.map(({ id }) => id);
      expectThat(
        inOrder(ids, (id) => [id]),
        'The services are not in the order of their ids (code units)',
      );
      expectSame(new Set(ids).size, ids.length, 'Services that differ, of those listed');
      for (const { id, name, durationMinutes } of services) {
        expectThat(id !== '' && name !== '', 'A service has no id or no name');
        expectThat(durationMinutes === null || durationMinutes > 0, `Service ${id} has a length that is not positive`);
      }
    },

    'hold the one that is known': async ({ connector, careUnit, facts }) => {
      const id = given(facts.healthcareServiceId, 'no healthcare service is named');
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      expectThat(
        services.some((service) => service.id === id),
        `The service ${id} is not listed`,
      );
    },

    'hold all that resources and free slots name': async ({ connector, careUnit }) => {
      const services = await operation(connector, 'listHealthcareServices')(careUnit);
      const ids = new Set(services.map(({ id }) => id));
      const resources = await operation(connector, 'listResources')(careUnit);
      for (const { id, healthcareServiceIds } of resources) {
        const strange = healthcareServiceIds.find((it) => !ids.has(it));
        expectThat(strange === undefined, `Resource ${id} names a service that is not listed: ${strange}`);
      }
    },
  },
);
