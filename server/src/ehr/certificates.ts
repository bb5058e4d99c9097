import type { ProbeFinding } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { EhrConnection } from './connection.ts';
import type { EhrTls } from './guard/ehr-tls.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** An authority can take weeks to issue a certificate. */
const warningDays = 30;

type Connection = Pick<EhrConnection, 'id' | 'tls'>;

/** Until when the gateway's certificate for an EHR is valid. `undefined`: it has none. */
export function certificateFinding(tls: EhrTls | undefined, now: Date): ProbeFinding | undefined {
  const expiresAt = tls?.expiresAt();
  if (!expiresAt) return undefined;
  const name = 'client certificate';
  const date = expiresAt.toISOString().slice(0, 10);
  const days = Math.floor((expiresAt.getTime() - now.getTime()) / dayMilliseconds);
  if (expiresAt <= now) return { name, status: 'problem', detail: `expired on ${date}` };
  if (days < warningDays) {
    return { name, status: 'warning', detail: `expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${date}` };
  }
  return { name, status: 'ok', detail: `valid until ${date}` };
}

/** Shows when the gateway's certificates expire. */
export function measureCertificates(registry: Registry, ehrs: () => Iterable<Connection>): void {
  new Gauge({
    name: 'crossward_ehr_client_certificate_expiry_timestamp_seconds',
    help: "When the gateway's certificate for an EHR expires, in seconds since 1970. Absent without a certificate.",
    labelNames: ['emr'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { id, tls } of ehrs()) {
        const expiresAt = tls?.expiresAt();
        if (expiresAt) this.set({ emr: id }, expiresAt.getTime() / 1000);
      }
    },
  });
}

/**
 * Returns a job that reads changed files, and logs once that they cannot be used, when they are used, and once a day that a
 * certificate expires soon.
 */
export function watchCertificates(ehrs: () => Iterable<Connection>, now: () => Date, log: Logger): () => Promise<void> {
  const watches = new WeakMap<EhrTls, () => Promise<void>>();
  return async () => {
    const looks = [...ehrs()].flatMap(({ id, tls }) => {
      if (!tls) return [];
      const look = watches.get(tls) ?? watch(id, tls, now, log);
      watches.set(tls, look);
      return look;
    });
    await Promise.all(looks.map((look) => look()));
  };
}

function watch(emr: string, tls: EhrTls, now: () => Date, log: Logger): () => Promise<void> {
  let context: unknown;
  let toldFault: string | undefined;
  let toldAt: number | undefined;
  return async () => {
    const former = context;
    context = await tls.refresh();
    const fault = tls.fault();
    if (fault !== undefined && fault !== toldFault)
      log.warn({ emr, fault }, 'TLS files cannot be used: the former ones stay in use');
    toldFault = fault;
    const expiresAt = tls.expiresAt();
    if (former !== undefined && former !== context) {
      log.info({ emr, expires_at: expiresAt }, 'TLS files have changed: new connections use them');
      toldAt = undefined;
    }
    const time = now();
    const { status, detail } = certificateFinding(tls, time) ?? {};
    if (status !== 'warning' && status !== 'problem') return;
    if (toldAt !== undefined && time.getTime() - toldAt < dayMilliseconds) return;
    toldAt = time.getTime();
    log.warn({ emr, expires_at: expiresAt }, `client certificate ${detail}`);
  };
}
