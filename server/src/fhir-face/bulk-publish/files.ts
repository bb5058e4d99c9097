import { createHash } from 'node:crypto';
import type { Resource } from '@medplum/fhirtypes';
import type { FastifyInstance } from 'fastify';
import type { EndpointDeps } from '../../api/endpoint.ts';
import { reasons } from '../../problems/reasons.ts';
import { unitName } from '../all-units/unit-names.ts';
import { issueOf, type MissingUnit } from '../all-units/units.ts';
import { ndjson, type Published, publicationSeconds, publicUnits, publish } from './publication.ts';

type Deps = Pick<EndpointDeps, 'services' | 'slots' | 'sameServices' | 'publicUrl'> & Pick<FastifyInstance, 'log'>;

/** A file that anybody can read. */
export interface PublicFile {
  readonly mediaType: string;
  readonly text: string;
  readonly etag: string;
}

const slotsPrefix = 'slots-';
const shared: Readonly<Record<string, (published: Published) => readonly Resource[]>> = {
  locations: ({ location }) => [location],
  schedules: ({ schedules }) => schedules,
  outcomes: ({ missing }) =>
    missing.length === 0 ? [] : [{ resourceType: 'OperationOutcome', issue: missing.map(publicIssue) }],
};

/** Nobody in particular is told what is wrong with the EHR. */
function publicIssue(missing: MissingUnit) {
  return issueOf(missing, `${reasons[missing.reason].title}.`);
}

/** The manifest: the entry point, which lists the files. */
export async function manifest(deps: Deps): Promise<PublicFile> {
  const all = await Promise.all(publicUnits(deps).map((unit) => publish(unit, deps)));
  const base = `${deps.publicUrl()}${filesPath}`;
  const fileOf = (type: string, name: string) => ({ type, url: `${base}/${name}.ndjson` });
  const fileIn = (type: string, name: string, units: readonly Published[]) => ({
    ...fileOf(type, name),
    extension: { state: [...new Set(units.map(({ unit }) => unit.publication.address.state))] },
  });
  const content = {
    transactionTime: new Date(
      Math.max(...(all.length > 0 ? all.map(({ at }) => at.getTime()) : [Date.now()])),
    ).toISOString(),
    request: `${deps.publicUrl()}${manifestPath}`,
    requiresAccessToken: false,
    output:
      all.length === 0
        ? []
        : [
            fileIn('Location', 'locations', all),
            fileIn('Schedule', 'schedules', all),
            ...all.map((it) => fileIn('Slot', `${slotsPrefix}${unitName(it.unit)}`, [it])),
          ],
    error: all.some(({ missing }) => missing.length > 0) ? [fileOf('OperationOutcome', 'outcomes')] : [],
  };
  return publicFile('application/json; charset=utf-8', JSON.stringify(content));
}

/** A file of the manifest. `undefined`: there is none of this name. */
export async function file(fileName: string, deps: Deps): Promise<PublicFile | undefined> {
  const name = fileName.replace(/\.ndjson$/, '');
  const units = publicUnits(deps);
  const unit = units.find((it) => name === `${slotsPrefix}${unitName(it)}`);
  if (unit) return ndjsonFile((await publish(unit, deps)).slots);
  const resourcesOf = Object.hasOwn(shared, name) ? shared[name] : undefined;
  if (!resourcesOf || units.length === 0) return undefined;
  return ndjsonFile(ndjson((await Promise.all(units.map((it) => publish(it, deps)))).flatMap(resourcesOf)));
}

function ndjsonFile(text: string): PublicFile {
  return publicFile('application/fhir+ndjson', text);
}

function publicFile(mediaType: string, text: string): PublicFile {
  return { mediaType, text, etag: `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"` };
}

export const manifestPath = '/api/fhir-r4/$bulk-publish';
export const filesPath = '/api/fhir-r4/bulk-publish';
export const cacheControl = `public, max-age=${publicationSeconds}`;
