import type { ConsoleResponse, PageContext, SignedIn } from './page.ts';
import type { Role } from './roles.ts';

interface Address {
  readonly method: 'GET' | 'POST';
  /** Below `/console/`, in the form of Fastify's router. */
  readonly path: string;
  /** A form with a field for each care unit of the configuration. */
  readonly isLongForm?: true;
  /** Only the demo has it. Its form is on the start page, too, which has no token for it. */
  readonly isOfDemo?: true;
}

/** A page of the console, or a form. */
export type Route =
  | (Address & { readonly role: 'public'; page(context: PageContext): Promise<ConsoleResponse> })
  /** The role that the page needs. */
  | (Address & { readonly role: Role; page(context: SignedIn): Promise<ConsoleResponse> });
