import { defineConnector, secretSchema } from '@crossward/connector-kit';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { changeAppointments, findOperation } from './appointment-writes.ts';
import { openClinic } from './clinic.ts';
import type { Settings } from './ehr-client.ts';
import { findPatient } from './patients.ts';
import { probe } from './probe.ts';
import { listTimeSlots } from './time-slots.ts';

/** Books in a small REST EHR. Each care unit is a department of the EHR with the same id. */
export const connector = defineConnector<Settings>({
  name: 'clinic',
  settingsSchema: {
    type: 'object',
    properties: {
      base_url: {
        type: 'string',
        format: 'uri',
        pattern: '[^/]$',
        errorMessage: 'must be a URL that does not end with /',
        description: 'Base URL of the EHR, such as https://ehr.example/api.',
      },
      user: { type: 'string', minLength: 1, description: 'The user of the EHR that the gateway signs in as.' },
      password: secretSchema,
    },
    required: ['base_url', 'user', 'password'],
    additionalProperties: false,
  },
  probe,
  open: async (context) => {
    const clinic = openClinic(context);
    const { client, lists } = clinic;
    return {
      capabilities: {
        patientIdentifierTypes: ['emr_id', 'nhs_number'],
        resourceIdentifierTypes: ['emr_id'],
        changes: ['create', 'update', 'cancel'],
        transactions: false,
      },
      findPatient: (identifier) => findPatient(client, identifier),
      findResource: async (careUnit, { value }) =>
        (await lists.find(careUnit, ({ resources }) => resources.find(({ id }) => id === value))) ?? null,
      listResources: async (careUnit) => (await lists.of(careUnit)).resources,
      listHealthcareServices: async (careUnit) => (await lists.of(careUnit)).services,
      listTimeSlots: (query) => listTimeSlots(clinic, query),
      findAppointments: (careUnit, ids) => findAppointments(client, careUnit, ids),
      listAppointments: (query) => listAppointments(client, query),
      changeAppointments: (write) => changeAppointments(clinic, write),
      findOperation: (careUnit, operationId) => findOperation(client, careUnit, operationId),
    };
  },
});
