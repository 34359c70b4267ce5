{{- define "wagergate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* 50 characters: what is put behind it has to fit into the 63 of a name. */ -}}
{{- define "wagergate.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "wagergate.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "wagergate.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "wagergate.selector" -}}
app.kubernetes.io/name: {{ include "wagergate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "wagergate.labels" -}}
{{ include "wagergate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "wagergate.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "wagergate.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "wagergate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "wagergate.secret" -}}
{{- default (include "wagergate.fullname" .) .Values.secret.existing -}}
{{- end -}}

{{- define "wagergate.secretFiles" -}}
{{- default (printf "%s-files" (include "wagergate.fullname" .)) .Values.secretFiles.existing -}}
{{- end -}}

{{- define "wagergate.gatewayConfigMap" -}}
{{- default (printf "%s-gateway" (include "wagergate.fullname" .)) .Values.gateway.existingConfigMap -}}
{{- end -}}

{{- define "wagergate.operatorsConfigMap" -}}
{{- default (printf "%s-operators" (include "wagergate.fullname" .)) .Values.operators.existingConfigMap -}}
{{- end -}}

{{- /* `helm upgrade --reuse-values` brings the values of an older chart, which has none: no probe would reach the pods. */ -}}
{{- define "wagergate.listen" -}}
{{- default "0.0.0.0" .Values.listen -}}
{{- end -}}

{{- /* Rules that let a pod look up names and reach PostgreSQL. */ -}}
{{- define "wagergate.databaseEgress" -}}
{{- $policy := .Values.networkPolicy -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
  {{- with $policy.dns }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    - { port: {{ int $policy.postgresql.port }}, protocol: TCP }
    {{- with $policy.postgresql.directPort }}
    - { port: {{ int . }}, protocol: TCP }
    {{- end }}
  {{- with $policy.postgresql.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /*
Whoever names as their own what this release has made would lose it: Helm deletes what is not in the manifests any more,
and pods could not start without it. Rendered without a cluster, nothing is found.
*/ -}}
{{- define "wagergate.checkOwners" -}}
{{- $named := dict "Secret" (list .Values.secret.existing .Values.secretFiles.existing) "ConfigMap" (list .Values.gateway.existingConfigMap .Values.operators.existingConfigMap) -}}
{{- range $kind, $names := $named -}}
{{- range $_, $name := $names -}}
{{- if $name -}}
{{- $annotations := dig "metadata" "annotations" dict (lookup "v1" $kind $.Release.Namespace $name) -}}
{{- if eq (dig "meta.helm.sh/release-name" "" $annotations) $.Release.Name -}}
{{- if ne (dig "helm.sh/resource-policy" "" $annotations) "keep" -}}
{{- fail (printf "%s %s is this release's own, and Helm would delete it: first run kubectl --namespace %s annotate %s %s helm.sh/resource-policy=keep" $kind $name $.Release.Namespace (lower $kind) $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* What is wrong although each value by itself is right. */ -}}
{{- define "wagergate.check" -}}
{{- /* Kubernetes refuses such a Service, and nothing else: the database is migrated and pods run that nobody can call. */ -}}
{{- $name := include "wagergate.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "no Service can be called %s: name the release with letters, digits and hyphens, a letter first, or set fullnameOverride" $name) -}}
{{- end -}}
{{- include "wagergate.checkOwners" . -}}
{{- if not .Values.secret.existing -}}
{{- $_ := required "secret.databaseUrl is needed where there is no secret.existing" .Values.secret.databaseUrl -}}
{{- $_ := required "secret.redisUrl is needed where there is no secret.existing" .Values.secret.redisUrl -}}
{{- $_ := required "secret.encryptionKey is needed where there is no secret.existing" .Values.secret.encryptionKey -}}
{{- end -}}
{{- $shutdown := .Values.shutdown -}}
{{- if lt (int $shutdown.terminationGracePeriodSeconds) (add (int $shutdown.preStopSeconds) 12 | int) -}}
{{- fail "shutdown.terminationGracePeriodSeconds must be at least shutdown.preStopSeconds and 12 more" -}}
{{- end -}}
{{- range $component, $settings := dict "http" .Values.http "worker" .Values.worker -}}
{{- $scaling := $settings.autoscaling -}}
{{- if $scaling.enabled -}}
{{- if lt (int $scaling.maxReplicas) (int $scaling.minReplicas) -}}
{{- fail (printf "%s.autoscaling.minReplicas must not be above its maxReplicas" $component) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
