import type { Route } from '../route.ts';
import { signInWith } from './sign-in.ts';

/** One click opens the console of the demo, which only this machine can reach. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: 'sign-in/demo',
    role: 'public',
    isOfDemo: true,
    async page(context) {
      const { demoOperator } = context.deps.settings;
      // As with the form: it is counted, shown as activity, and needs the code if the account has one.
      const { name = '', password } = demoOperator ?? {};
      return signInWith(context, { name, password: password?.reveal() ?? '', code: '' });
    },
  },
];
