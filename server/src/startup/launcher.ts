/** Milliseconds. */
const interval = 500;

/**
 * Lets SIGTERM end this process when `npx` has ended. npm passes a signal on to the shell between it and the program, and a shell
 * that does not replace itself by the program (dash) ends without it: the program would go on, with a port that is in use.
 */
export function endWithLauncher(variables: NodeJS.ProcessEnv = process.env): void {
  // npm sets it for `npm exec` and `npx`, and Windows gives no process another parent.
  if (variables.npm_lifecycle_event !== 'npx' || process.platform === 'win32') return;
  const launcher = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, interval);
  timer.unref();
}
