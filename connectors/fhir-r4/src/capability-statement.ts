import { ConnectorError } from '@crossward/connector-kit';
import type { FhirClient } from './client.ts';
import type { FhirResource } from './fhir.ts';

/** What `/metadata` says: https://hl7.org/fhir/R4/capabilitystatement.html */
interface CapabilityStatement extends FhirResource {
  readonly rest?: readonly {
    readonly mode?: string;
    readonly interaction?: readonly { readonly code?: string }[];
    readonly operation?: readonly NamedOperation[];
    readonly resource?: readonly {
      readonly type?: string;
      readonly interaction?: readonly { readonly code?: string }[];
      readonly operation?: readonly NamedOperation[];
      readonly searchParam?: readonly { readonly name?: string }[];
      readonly conditionalCreate?: boolean;
    }[];
  }[];
}
interface NamedOperation {
  readonly name?: string;
  readonly definition?: string;
}

/** What a server says that it can do. What it does not mention it may still be able to. */
export interface ServerFacts {
  readonly transactions: boolean;
  can(type: string, interaction: 'read' | 'search-type' | 'create' | 'update' | 'patch' | 'delete'): boolean;
  /** `Appointment`, `book` */
  hasOperation(type: string, name: string): boolean;
  /** Whether any interaction of the type is named at all. */
  knows(type: string): boolean;
  readonly conditionalCreate: boolean;
}

export async function readServerFacts(client: Pick<FhirClient, 'read'>): Promise<ServerFacts> {
  const statement = await client.read<CapabilityStatement>('metadata');
  if (statement?.resourceType !== 'CapabilityStatement') {
    throw new ConnectorError('rejected', 'The EHR has no CapabilityStatement at its base URL');
  }
  return serverFacts(statement);
}

function serverFacts(statement: CapabilityStatement): ServerFacts {
  const rest = statement.rest?.find(({ mode }) => mode === 'server') ?? statement.rest?.[0];
  const resources = new Map((rest?.resource ?? []).map((resource) => [resource.type ?? '', resource]));
  const operations = (type: string) => [...(resources.get(type)?.operation ?? []), ...(rest?.operation ?? [])];
  return {
    transactions: (rest?.interaction ?? []).some(({ code }) => code === 'transaction'),
    can: (type, interaction) =>
      (resources.get(type)?.interaction ?? []).some(({ code }) => code === interaction) === true,
    // Servers write `$book`, `book`, or a name of their own with a definition that ends in it.
    hasOperation: (type, name) =>
      operations(type).some(
        (it) =>
          it.name?.replace(/^\$/, '') === name ||
          new RegExp(`/${type}-?${name}$`, 'i').test(it.definition?.replace(/\|.*$/, '') ?? ''),
      ),
    knows: (type) => resources.has(type),
    conditionalCreate: resources.get('Appointment')?.conditionalCreate === true,
  };
}
