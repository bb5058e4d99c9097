// Exits with 3 if something is known to prevent the gateway's start: node may-start.ts. Node.js itself exits with 1 after an
// error, which says nothing. In a process of its own: what Node.js needs for sources in TypeScript would leave 14 MB in the gateway.
import { readEnvironment } from '../src/config/environment/environment.ts';
import { ConfigurationError } from '../src/startup/configuration-error.ts';
import { assertCanListen } from '../src/startup/listen-error.ts';

try {
  await assertCanListen(readEnvironment());
} catch (error) {
  if (error instanceof ConfigurationError) process.exitCode = 3;
}
