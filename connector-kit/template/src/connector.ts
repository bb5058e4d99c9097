import { defineConnector } from '@crossward/connector-kit';
import { findPatient } from './patients.ts';
import { probe } from './probe.ts';

interface ToySettings {
  readonly base_url: string;
}

/** A connector that supports only patient look-up. */
export const connector = defineConnector<ToySettings>({
  name: 'toy',
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
  probe: ({ settings, http }) => probe(http, settings.base_url),
  open: async ({ settings, http }) => ({
    capabilities: {
      patientIdentifierTypes: ['emr_id', 'nhs_number'],
      resourceIdentifierTypes: ['emr_id'],
      changes: [],
      transactions: false,
    },
    findPatient: (identifier) => findPatient(http, settings.base_url, identifier),
  }),
});
