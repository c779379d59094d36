{{- define "tollgate.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "tollgate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tollgate.serviceAccount" -}}
{{ if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "tollgate.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "tollgate.configMap" -}}
{{ .Values.configuration.existingConfigMap | default (printf "%s-configuration" (include "tollgate.name" .)) }}
{{- end }}

{{/* Applied again when the document changes, since a rollout reads it. */}}
{{- define "tollgate.annotations" -}}
checksum/configuration: {{ .Values.configuration.document | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tollgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: { drop: [ALL] }
{{- end }}

{{- define "tollgate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every container of the program is given: (dict "root" $ "role" "serve"); without a role, a command. */}}
{{- define "tollgate.environment" -}}
{{- $values := .root.Values -}}
env:
  - { name: NODE_ENV, value: production }
  - { name: TOLLGATE_DATA, value: /data }
  {{- with .role }}
  - { name: TOLLGATE_CONFIG, value: /etc/tollgate/tollgate.yaml }
  - { name: HOST, value: "0.0.0.0" }
  - { name: PORT, value: "8787" }
  - { name: TOLLGATE_ROLE, value: {{ . }} }
  {{- if $values.metrics.enabled }}
  - { name: TOLLGATE_METRICS_HOST, value: "0.0.0.0" }
  - { name: TOLLGATE_METRICS_PORT, value: {{ $values.metrics.port | quote }} }
  {{- end }}
  {{- end }}
  {{- range $name, $key := $values.secrets.files }}
  - { name: {{ $name }}, value: /secrets/{{ $key }} }
  {{- end }}
  {{- range $name, $value := $values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- with $values.upstreamSecrets }}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . }} }
  {{- end }}
{{- end }}
volumeMounts:
  - { name: secrets, mountPath: /secrets, readOnly: true }
  {{- if .role }}
  - { name: configuration, mountPath: /etc/tollgate, readOnly: true }
  {{- end }}
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "tollgate.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.secrets.name }}
    defaultMode: 288 # 0440
{{- if .role }}
- name: configuration
  configMap: { name: {{ include "tollgate.configMap" .root }} }
{{- end }}
- { name: data, emptyDir: {} }
- { name: tmp, emptyDir: {} }
{{- end }}

{{/* A Deployment of one role: (dict "root" $ "role" "serve" "setting" "both" "values" .Values.serve). */}}
{{- define "tollgate.deployment" -}}
{{- $root := .root -}}
{{- $role := .role -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "tollgate.name" $root }}-{{ $role }}
  labels:
    {{- include "tollgate.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $role }}
spec:
  {{- if not (and (hasKey .values "autoscaling") .values.autoscaling.enabled) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
      {{- include "tollgate.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $role }}
  template:
    metadata:
      labels:
        {{- include "tollgate.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $role }}
        {{- with $root.Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- include "tollgate.annotations" $root | nindent 8 }}
    spec:
      serviceAccountName: {{ include "tollgate.serviceAccount" $root }}
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        {{- include "tollgate.podSecurity" $root | nindent 8 }}
      containers:
        - name: {{ $role }}
          image: {{ include "tollgate.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [serve]
          securityContext:
            {{- include "tollgate.containerSecurity" $root | nindent 12 }}
          {{- include "tollgate.environment" (dict "root" $root "role" .setting) | nindent 10 }}
          ports:
            - { name: http, containerPort: 8787 }
            {{- if $root.Values.metrics.enabled }}
            - { name: metrics, containerPort: {{ $root.Values.metrics.port }} }
            {{- end }}
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 10
            timeoutSeconds: 3
            failureThreshold: 3
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 1
          resources:
            {{- toYaml .values.resources | nindent 12 }}
      volumes:
        {{- include "tollgate.volumes" (dict "root" $root "role" $role) | nindent 8 }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- if $root.Values.topologySpreadConstraints }}
        {{- toYaml $root.Values.topologySpreadConstraints | nindent 8 }}
        {{- else }}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "tollgate.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ $role }}
        {{- end }}
{{- end }}

{{- define "tollgate.podDisruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "tollgate.name" .root }}-{{ .role }}
  labels:
    {{- include "tollgate.labels" .root | nindent 4 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "tollgate.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
{{- end }}
