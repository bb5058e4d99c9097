import { defineConnector } from '@crossward/connector-kit';
import { findAppointments, listAppointments } from './appointment-reads.ts';
import { changeAppointments, findOperation } from './appointment-writes.ts';
import { createEhrClient } from './ehr-client.ts';
import { findPatient } from './patients.ts';
import { probe } from './probe.ts';
import { findResource, listHealthcareServices, listResources } from './resources.ts';
import { listTimeSlots } from './time-slots.ts';

interface Settings {
  readonly base_url: string;
}

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
    },
    required: ['base_url'],
    additionalProperties: false,
  },
  probe: ({ settings, http }) => probe(createEhrClient(http, settings.base_url)),
  open: async ({ settings, http, leftOut }) => {
    const ehr = createEhrClient(http, settings.base_url, (record) => leftOut?.(record));
    return {
      capabilities: {
        patientIdentifierTypes: ['emr_id', 'nhs_number'],
        resourceIdentifierTypes: ['emr_id'],
        changes: ['create', 'update', 'cancel'],
        transactions: false,
      },
      findPatient: (identifier) => findPatient(ehr, identifier),
      findResource: (careUnit, identifier) => findResource(ehr, careUnit, identifier),
      listResources: (careUnit) => listResources(ehr, careUnit),
      listHealthcareServices: () => listHealthcareServices(ehr),
      listTimeSlots: (query) => listTimeSlots(ehr, query),
      findAppointments: (careUnit, ids) => findAppointments(ehr, careUnit, ids),
      listAppointments: (query) => listAppointments(ehr, query),
      changeAppointments: (write) => changeAppointments(ehr, write),
      findOperation: (careUnit, operationId) => findOperation(ehr, careUnit, operationId),
    };
  },
});
