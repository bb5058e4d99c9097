/** Why a plug-in cannot be used. The message follows its name. */
export class PluginMistake extends Error {
  override readonly name = 'PluginMistake';
}
