{{- define "crossward.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "crossward.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "crossward.labels" -}}
{{ include "crossward.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "crossward.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "crossward.config" -}}
{{- toYaml (mustMergeOverwrite (deepCopy .Values.config) (dict "http" (dict "operations_port" 9090 "drain_seconds" .Values.drainSeconds))) }}
{{- end }}

{{- define "crossward.egress" -}}
{{- range . }}
- to: [{ ipBlock: { cidr: {{ .cidr | quote }} } }]
  ports: [{ protocol: TCP, port: {{ .port }} }]
{{- end }}
{{- end }}
