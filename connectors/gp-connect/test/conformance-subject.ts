import type { Subject } from '@crossward/connector-kit/conformance';
import { startFake } from '../fake/server.ts';
import { subjectOver } from './subject.ts';

export async function gpConnectSubject(): Promise<Subject> {
  return subjectOver(await startFake());
}
