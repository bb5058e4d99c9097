import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { auditCommand } from './audit.ts';
import { clientsCommand } from './clients.ts';
import { conformanceCommand } from './conformance.ts';
import { configCheckCommand, doctorCommand, statusCommand } from './doctor/commands.ts';
import { emrCheckCommand } from './emr-check.ts';
import { emrPauseCommand, emrResumeCommand } from './emr-pause.ts';
import { emrReportCommand } from './emr-report.ts';
import { emrTemplatesCommand } from './emr-templates.ts';
import { emrAddCommand, emrChangeCommand, emrOpenCommand } from './emrs/add-or-change.ts';
import { emrExportCommand, emrListCommand } from './emrs/list-or-export.ts';
import { emrRemoveCommand } from './emrs/remove.ts';
import { initCommand } from './init.ts';
import { mcpCommand } from './mcp.ts';
import { messagesCommand } from './messages.ts';
import { operationsCommand } from './operations.ts';
import { operatorsCommand } from './operators.ts';
import type { Output } from './output.ts';
import { patientCommand } from './patient.ts';
import { reloadCommand } from './reload.ts';
import { secretKeysCommand } from './secret-keys.ts';
import { webhooksCommand } from './webhooks.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** Builds the command line. Commands report their exit code with `end` and throw `UsageError` for wrong usage. */
export function createProgram(output: Output, end: (exitCode: number) => void): Command {
  const program = new Command('crossward')
    .description('One uniform interface over many electronic health record systems.')
    .version(version)
    .configureOutput({ writeOut: output.out, writeErr: output.err })
    .showHelpAfterError('(use --help for usage)')
    .addHelpText('after', exitCodeHelp)
    .exitOverride();
  const emr = new Command('emr').description('Manage connections to EHRs.');
  emr.addCommand(emrListCommand(output));
  emr.addCommand(emrAddCommand(output, end));
  emr.addCommand(emrChangeCommand(output, end));
  emr.addCommand(emrOpenCommand(output, end));
  emr.addCommand(emrRemoveCommand(output, end));
  emr.addCommand(emrExportCommand(output, end));
  emr.addCommand(emrCheckCommand(output, end));
  emr.addCommand(emrReportCommand(output, end));
  const config = new Command('config').description('Check the configuration.');
  config.addCommand(configCheckCommand(output, end));
  // `crossward.js` runs it, with the settings of V8 and glibc that a gateway needs.
  program.addCommand(new Command('start').description('Start the gateway. `start --help` lists its variables.'));
  program.addCommand(initCommand(output));
  program.addCommand(doctorCommand(output, end));
  program.addCommand(statusCommand(output, end));
  program.addCommand(config);
  program.addCommand(reloadCommand(output, end));
  emr.addCommand(emrTemplatesCommand(output));
  emr.addCommand(emrPauseCommand(output, end));
  emr.addCommand(emrResumeCommand(output, end));
  program.addCommand(mcpCommand(output, version));
  program.addCommand(conformanceCommand(output, end));
  program.addCommand(emr);
  const audit = auditCommand(output, end);
  program.addCommand(audit);
  const clients = clientsCommand(output, end);
  program.addCommand(clients);
  const messages = messagesCommand(output, end);
  program.addCommand(messages);
  const operations = operationsCommand(output, end);
  program.addCommand(operations);
  const operators = operatorsCommand(output, end);
  program.addCommand(operators);
  const patient = patientCommand(output, end);
  program.addCommand(patient);
  const secretKeys = secretKeysCommand(output, end);
  program.addCommand(secretKeys);
  const webhooks = webhooksCommand(output, end);
  program.addCommand(webhooks);
  const groups = [audit, clients, config, emr, messages, operations, operators, patient, secretKeys, webhooks];
  for (const command of [...program.commands, ...groups.flatMap(({ commands }) => commands)])
    command.copyInheritedSettings(program);
  return program;
}

const exitCodeHelp = `
Exit codes:
  0  success
  1  a check or the command failed
  2  the command, the configuration or the database cannot be used`;
