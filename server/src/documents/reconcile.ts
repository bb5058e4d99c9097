import { createHash } from 'node:crypto';
import type { Document } from '@crossward/connector-kit';
import { isPlannedElsewhere } from '../unfinished-writes/other-plans.ts';
import type { Work } from '../writes/write-kind.ts';
import { type DocumentPlan, documentKindName } from './plan.ts';

/** More documents than a patient gets while the gateway looks for one of them. */
const mostDocuments = 100;

/**
 * Looks for the document of a write in an EHR that does not find writes by operation id. A document counts as ours if it is
 * the only one since the request with the same author, title, type and bytes, and no other open write would store it.
 */
export async function reconcileDocument(work: Work, plan: DocumentPlan): Promise<Document | null> {
  const { ehr, careUnit, call } = work;
  if (!ehr.offers('listDocuments') || !ehr.offers('readDocument')) return null;
  const { patientId, requestedAt, upload } = plan;
  // EHRs may store whole seconds.
  const since = Math.floor(requestedAt.getTime() / 1000) * 1000;
  const found = await call('listDocuments', { careUnit, patientId, limit: mostDocuments });
  const recent = found.filter((it) => it.createdAt.getTime() >= since && isSame(it, plan));
  const same: Document[] = [];
  for (const document of recent) {
    if ((document.size ?? upload.size) !== upload.size) continue;
    if ((await hashOf(work, document)) === upload.sha256) same.push(document);
  }
  const [only, another] = same;
  if (!only || another) return null;
  const isOthers = await isPlannedElsewhere(work, documentKindName, (other) => {
    const it = other as DocumentPlan;
    return isSame(only, it) && it.upload.sha256 === upload.sha256;
  });
  return isOthers ? null : only;
}

/** SHA-256 of the content, in hexadecimal. `undefined`: it cannot be read. */
async function hashOf({ call, careUnit }: Work, { patientId, id }: Document): Promise<string | undefined> {
  const content = await call('readDocument', careUnit, patientId, id);
  if (!content) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of content.chunks) hash.update(chunk);
  return hash.digest('hex');
}

type Label = Pick<Document, 'patientId' | 'authorId' | 'title' | 'contentType'>;

function isSame(a: Label, b: Label): boolean {
  const facts = ({ patientId, authorId, title, contentType }: Label) =>
    JSON.stringify([patientId, authorId, title, contentType]);
  return facts(a) === facts(b);
}
