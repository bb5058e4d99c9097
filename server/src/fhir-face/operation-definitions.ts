import type { OperationDefinition } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { facePath } from './face.ts';
import { fhirDescription } from './interaction.ts';

type Described = Pick<OperationDefinition, 'name' | 'title' | 'description' | 'parameter'>;

const shown = {
  name: 'return',
  use: 'out',
  min: 1,
  max: '1',
  documentation: 'The Appointment as it is then.',
  type: 'Appointment',
} as const;

/** The operations of the gateway's own on one Appointment, by their codes. */
const described = {
  confirm: {
    name: 'ConfirmAppointment',
    title: 'Confirm a booking or a cancellation',
    description: 'Enters the code that the patient has received for an Appointment that awaits it.',
    parameter: [
      {
        ...{ name: 'code', use: 'in', min: 1, max: '1', type: 'string' },
        documentation: 'The code, as the patient has received it by SMS or e-mail.',
      },
      shown,
    ],
  },
  'resend-code': {
    name: 'ResendCode',
    title: 'Send the patient a new code',
    description: 'Sends a new code for an Appointment that awaits one. The former code is not valid any more.',
    parameter: [shown],
  },
} as const satisfies Readonly<Record<string, Described>>;

type Code = keyof typeof described;

/** The canonical URL of an operation, at the base URL over all care units, where it can be read. */
export function definitionOf({ server }: FastifyRequest, code: Code): string {
  return `${server.endpointDeps.publicUrl()}/api${facePath}/OperationDefinition/${code}`;
}

/** `GET [base]/OperationDefinition/{code}`: https://hl7.org/fhir/R4/operationdefinition.html. The same for every base URL. */
export const operationDefinitions = (Object.keys(described) as Code[]).map((code) =>
  fhirDescription(
    'fhir_read_operation_definition',
    `/OperationDefinition/${code}`,
    {},
    (request): OperationDefinition => ({
      resourceType: 'OperationDefinition',
      id: code,
      url: definitionOf(request, code),
      status: 'active',
      kind: 'operation',
      affectsState: true,
      code,
      resource: ['Appointment'],
      system: false,
      type: false,
      instance: true,
      ...(structuredClone(described[code]) as Described),
    }),
  ),
);
