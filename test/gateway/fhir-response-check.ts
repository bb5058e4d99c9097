import { Worker } from 'node:worker_threads';
import type { Resource } from '@medplum/fhirtypes';
import { Fhir } from 'fhir';
import { issueTypes } from '../../server/src/fhir-face/issue-types.ts';
import { once } from '../../server/src/http/once.ts';

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Answer {
  readonly id: number;
  readonly issues: readonly unknown[];
}

/** Started by the first response that needs it. */
const validator = once(() => {
  const worker = new Worker(new URL('./fhir-validator.js', import.meta.url));
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>();
  worker.on('message', ({ id, issues }: Answer) => waiting.get(id)?.resolve(issues));
  worker.on('error', (error) => {
    for (const { reject } of waiting.values()) reject(error);
  });
  return (text: string) => {
    const answer = Promise.withResolvers<readonly unknown[]>();
    const id = waiting.size;
    waiting.set(id, answer);
    worker.postMessage({ id, text });
    return answer.promise;
  };
});

/** The resources of a file, one a line. */
function asBundle(text: string): string {
  const entry = text
    .trim()
    .split('\n')
    .slice(0, 50)
    .map((line) => ({ resource: JSON.parse(line) as Resource }));
  return JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry });
}

const toJsonFrom: Readonly<Record<string, (text: string) => string>> = {
  'application/fhir+ndjson': asBundle,
  'application/fhir+json; charset=utf-8': (text) => text,
  'application/fhir+xml; charset=utf-8': (text) => new Fhir().xmlToJson(text),
};

/** Throws if a response of the FHIR face is not valid FHIR R4, or is no OperationOutcome of a known reason if it is an error. */
export async function checkFhirResponse(
  name: string,
  method: string,
  { status, headers, text: sent }: Response,
): Promise<void> {
  if (method === 'HEAD' || sent === '') {
    if (status >= 400 && method !== 'HEAD') throw new Error(`${name}: an error has no OperationOutcome`);
    return;
  }
  const toJson = toJsonFrom[String(headers['content-type'])];
  if (!toJson) throw new Error(`${name}: content type`);
  const text = toJson(sent);
  const issues = await validator()(text);
  if (issues.length > 0) throw new Error(`${name}: not valid FHIR R4: ${JSON.stringify(issues)}`);
  if (status < 400) return;
  const resource = JSON.parse(text) as Resource;
  if (resource.resourceType !== 'OperationOutcome') throw new Error(`${name}: an error must be an OperationOutcome`);
  for (const { severity, details } of resource.issue ?? []) {
    const reason = details?.coding?.[0]?.code ?? '';
    if (severity === 'error' && !Object.hasOwn(issueTypes, reason)) throw new Error(`${name}: no known reason`);
  }
}
