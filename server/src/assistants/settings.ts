import type { EnvironmentVariables } from '../config/environment.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';
import { type Assignment, createDesk, type Desk } from './desk.ts';

/** Variables of `crossward mcp` on standard input and output, each with its meaning. */
export const assistantVariables = {
  CROSSWARD_URL: 'base URL of the gateway',
  CROSSWARD_CLIENT_ID: 'id of the client, with the scopes appointments:read, appointments:write and resources:read',
  CROSSWARD_CLIENT_SECRET: 'its secret',
  CROSSWARD_EMR: 'id of the EHR',
  CROSSWARD_CARE_UNIT: 'id of the care unit',
  CROSSWARD_PATIENT: 'the patient, such as no_personal_number:…',
} as const;
type Variable = keyof typeof assistantVariables;

/** @throws {ConfigurationError} naming each variable that is missing or wrong, without its value */
export function readDesk(variables: EnvironmentVariables): Desk {
  const value = readVariables(variables, Object.keys(assistantVariables) as Variable[]);
  const assignment: Assignment = {
    baseUrl: value.CROSSWARD_URL,
    clientId: value.CROSSWARD_CLIENT_ID,
    clientSecret: value.CROSSWARD_CLIENT_SECRET,
    emr: value.CROSSWARD_EMR,
    careUnitId: value.CROSSWARD_CARE_UNIT,
    patient: value.CROSSWARD_PATIENT,
  };
  return checked(() => createDesk(assignment));
}

/** @throws {ConfigurationError} as `readDesk` */
export function readGatewayUrl(variables: EnvironmentVariables): string {
  const { CROSSWARD_URL: baseUrl } = readVariables(variables, ['CROSSWARD_URL']);
  checked(() => createDesk({ baseUrl, clientId: 'x', clientSecret: 'x', emr: 'x', careUnitId: 'x', patient: 'x' }));
  return baseUrl;
}

function readVariables<Name extends Variable>(variables: EnvironmentVariables, names: readonly Name[]) {
  const missing = names.filter((name) => (variables[name] ?? '').trim() === '');
  if (missing.length > 0) {
    throw new ConfigurationError(missing.map((name) => `${name}: is not set: ${assistantVariables[name]}`));
  }
  return Object.fromEntries(names.map((name) => [name, variables[name] ?? ''])) as Record<Name, string>;
}

function checked(create: () => Desk): Desk {
  try {
    return create();
  } catch (error) {
    if (error instanceof TypeError)
      throw new ConfigurationError([`CROSSWARD_URL or CROSSWARD_CLIENT_…: ${error.message}`]);
    throw error;
  }
}
