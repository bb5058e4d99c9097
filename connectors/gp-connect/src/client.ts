import { randomUUID } from 'node:crypto';
import { ConnectorError, type EhrResponse } from '@crossward/connector-kit';
import { type OpenContext, readRecord } from '@crossward/connector-kit/rest';
import { type FhirAppointment, type FhirResource, isFhirId, type References, referencesAt } from './fhir.ts';
import { bundleSchema } from './records.ts';
import type { GpConnectSettings } from './settings.ts';
import { isError, isOutcome, nullIfAbsent, SpineError } from './spine-errors.ts';
import { bearerToken, type Interaction, interactionId } from './token.ts';

const mediaType = 'application/fhir+json';

/** Requests to one practice, through the Spine proxy if there is one. */
export interface GpConnectClient {
  /** To resources of the practice. */
  readonly references: References;
  /** @throws SpineError if the practice answers with an error; ConnectorError `rejected` for anything but this type */
  read<R extends FhirResource>(interaction: Interaction, path: string, type: R['resourceType']): Promise<R>;
  /** As `read`. `null`: the practice has none with this id. @throws ConnectorError `rejected` for one with another id */
  find<R extends FhirResource>(interaction: Interaction, type: R['resourceType'], id: string): Promise<R | null>;
  /**
   * The resources in a Bundle. An empty one is no error.
   *
   * @throws what `read` throws
   */
  search(interaction: Interaction, path: string): Promise<readonly FhirResource[]>;
  /**
   * Books, or changes the appointment at the path if `ifMatch` is given. The version in the answer is not reliable.
   *
   * @throws SpineError if the practice refuses; ConnectorError `outcome_unknown` for any other answer but an appointment
   */
  write(interaction: Interaction, path: string, body: FhirAppointment, ifMatch?: string): Promise<FhirAppointment>;
}

export function createClient(context: OpenContext<GpConnectSettings>): GpConnectClient {
  const { settings, http, now, user, leftOut } = context;
  const { provider_url, proxy_url } = settings;
  const provider = trimmed(provider_url);
  const base = proxy_url === undefined ? provider : `${trimmed(proxy_url)}/${provider}`;

  function headers(interaction: Interaction): Record<string, string> {
    return {
      accept: mediaType,
      authorization: `Bearer ${bearerToken(settings, user?.(), interaction, now())}`,
      'ssp-traceid': randomUUID(),
      'ssp-from': settings.from_asid,
      'ssp-to': settings.to_asid,
      'ssp-interactionid': interactionId(interaction),
    };
  }

  async function read<R extends FhirResource>(interaction: Interaction, path: string, type: string): Promise<R> {
    const url = `${base}/${path}`;
    const response = await http.send({ method: 'GET', url, headers: headers(interaction), repeatable: true });
    const failure = failureOf(response, interaction);
    if (failure) throw failure;
    const answer = resourceIn(response);
    if (!answer) throw noAnswer(`The EHR responded without a FHIR resource to ${interaction}`);
    if (answer.resourceType === type) return answer as R;
    throw new ConnectorError('rejected', `The EHR responded to ${interaction} with another type of resource`);
  }

  return {
    // Behind a proxy, a practice may name its resources by its own address or by that of the request.
    references: referencesAt([provider, base]),
    read,
    async find<R extends FhirResource>(interaction: Interaction, type: R['resourceType'], id: string) {
      if (!isFhirId(id)) return null;
      const found = await read<R>(interaction, `${type}/${id}`, type).catch(nullIfAbsent);
      if (found === null || found.id === id) return found;
      throw new ConnectorError('rejected', `The EHR sent another ${type} than the one requested`);
    },
    async search(interaction, path) {
      const { record } = readRecord(bundleSchema, await read(interaction, path, 'Bundle'));
      if (!record) throw noAnswer(`The EHR responded with a malformed Bundle to ${interaction}`);
      const { entry = [], link = [] } = record;
      // GP Connect has no pages. One that is overlooked would hide an appointment.
      if (link.some(({ relation }) => relation === 'next')) {
        throw new ConnectorError('rejected', `The EHR responded to ${interaction} in pages`);
      }
      const resources = entry.flatMap(({ resource }, index) => {
        if (isResource(resource)) return [resource];
        leftOut({ type: 'Bundle', path: `/entry/${index}/resource` });
        return [];
      });
      // With an error, the answer is not that there is nothing.
      const failure = resources.find(isError);
      if (failure) throw new SpineError(200, failure, interaction);
      return resources;
    },
    async write(interaction, path, body, ifMatch) {
      const response = await http.send({
        method: ifMatch === undefined ? 'POST' : 'PUT',
        url: `${base}/${path}`,
        headers: {
          ...headers(interaction),
          'content-type': mediaType,
          ...(ifMatch === undefined ? {} : { 'if-match': `W/"${ifMatch}"` }),
        },
        body: JSON.stringify(body),
        repeatable: false,
        refused: (answered) => failureOf(answered, interaction)?.isRefusal ?? false,
      });
      const failure = failureOf(response, interaction);
      if (failure) throw failure.isRefusal ? failure : unknown(interaction, failure);
      const answer = resourceIn(response);
      if (answer?.resourceType !== 'Appointment') throw unknown(interaction);
      return answer as FhirAppointment;
    },
  };
}

/** What the practice sent is none of its answers, such as the page of a proxy. */
function noAnswer(words: string): ConnectorError {
  return new ConnectorError('rejected', words, { fault: true });
}

/** The practice has done something, and nobody knows what. */
function unknown(interaction: Interaction, cause?: SpineError): ConnectorError {
  return new ConnectorError('outcome_unknown', `The EHR did not say what became of ${interaction}`, { cause });
}

/** Some faults come with HTTP 200 and an OperationOutcome. `undefined`: none. */
function failureOf(response: EhrResponse, interaction: Interaction): SpineError | undefined {
  const answer = resourceIn(response);
  const isFailure = response.status >= 300 || isOutcome(answer);
  return isFailure ? new SpineError(response.status, answer, interaction) : undefined;
}

/** `undefined` for XML, HTML and everything else that is not a resource in JSON. */
function resourceIn({ text }: EhrResponse): FhirResource | undefined {
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isResource(parsed) ? parsed : undefined;
  } catch {
    // The parser's message would quote the response.
    return undefined;
  }
}

function isResource(value: unknown): value is FhirResource {
  return (
    typeof value === 'object' && value !== null && 'resourceType' in value && typeof value.resourceType === 'string'
  );
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}
