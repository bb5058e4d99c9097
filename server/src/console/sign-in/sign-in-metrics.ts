import { Counter, type Registry } from 'prom-client';

export interface SignInMetrics {
  ended(outcome: SignInOutcome, name: 'known' | 'unknown'): void;
}

/** `throttled`: too many failures, the credentials were not checked. */
export type SignInOutcome = 'done' | 'rejected' | 'throttled';

export function createSignInMetrics(registry: Registry): SignInMetrics {
  const signIns = new Counter({
    name: 'crossward_console_sign_ins_total',
    help: 'Sign-ins to the console by outcome: done, rejected, or throttled (too many failures before, not checked); and by name: known, or unknown if no account has it.',
    labelNames: ['outcome', 'name'],
    registers: [registry],
  });
  return { ended: (outcome, name) => signIns.inc({ outcome, name }) };
}
