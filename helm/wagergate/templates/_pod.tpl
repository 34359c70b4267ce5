{{- /*
The pod of a component. Takes a dict: root, component (http or worker), settings (its values).
*/ -}}
{{- define "wagergate.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $settings := .settings -}}
metadata:
  labels:
    {{- include "wagergate.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $settings.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- /* The environment is read at the start only; the mounted folders are followed. */}}
    {{- if not $values.secret.existing }}
    checksum/secret: {{ toJson $values.secret | sha256sum }}
    {{- end }}
    kubectl.kubernetes.io/default-container: gateway
    {{- with $settings.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "wagergate.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ int $values.shutdown.terminationGracePeriodSeconds }}
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $settings.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: gateway
      image: {{ include "wagergate.image" $root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      env:
        - name: ROLES
          value: {{ .component }}
        {{- if eq .component "http" }}
        - name: WORKERS
          value: {{ int $settings.workers | quote }}
        {{- end }}
        - name: GATEWAY_CONFIG
          value: /etc/wagergate
        - name: HOST
          value: {{ include "wagergate.listen" $root | quote }}
        - name: PORT
          value: "8080"
        - name: ADMIN_HOST
          value: {{ include "wagergate.listen" $root | quote }}
        - name: ADMIN_PORT
          value: "9090"
        {{- with $values.admin.hosts }}
        - name: ADMIN_HOSTS
          value: {{ join "," . | quote }}
        {{- end }}
        {{- with $values.admin.trustProxy }}
        - name: ADMIN_TRUST_PROXY
          value: {{ join "," . | quote }}
        {{- end }}
        {{- with $values.admin.consoleUrl }}
        - name: CONSOLE_URL
          value: {{ . | quote }}
        {{- end }}
        {{- with $values.oidc }}
        {{- if .issuer }}
        - name: OIDC_ISSUER
          value: {{ .issuer | quote }}
        - name: OIDC_CLIENT_ID
          value: {{ .clientId | quote }}
        - name: OIDC_AUDIENCE
          value: {{ .audience | quote }}
        - name: OIDC_ROLES_CLAIM
          value: {{ .rolesClaim | quote }}
        - name: OIDC_ROLES_PREFIX
          value: {{ .rolesPrefix | quote }}
        - name: OIDC_SCOPES
          value: {{ .scopes | quote }}
        {{- end }}
        {{- end }}
        - name: SECRET_FOLDERS
          value: {{ join ":" $values.secretFiles.folders | quote }}
        - name: LOG_LEVEL
          value: {{ $values.logging.level }}
        - name: LOG_READS_SAMPLE
          value: {{ $values.logging.readsSample | quote }}
        {{- with $values.tracing }}
        {{- if .endpoint }}
        - name: OTEL_EXPORTER_OTLP_ENDPOINT
          value: {{ .endpoint | quote }}
        - name: OTEL_SERVICE_NAME
          value: {{ .serviceName | quote }}
        - name: OTEL_TRACES_SAMPLER_ARG
          value: {{ .share | quote }}
        {{- end }}
        {{- end }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with $settings.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      envFrom:
        - secretRef:
            name: {{ include "wagergate.secret" $root }}
      ports:
        {{- if eq .component "http" }}
        - name: http
          containerPort: 8080
        {{- end }}
        - name: admin
          containerPort: 9090
      startupProbe:
        httpGet: { path: {{ $values.probes.readiness }}, port: admin }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: {{ $values.probes.readiness }}, port: admin }
        periodSeconds: 5
        timeoutSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: {{ $values.probes.liveness }}, port: admin }
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 3
      lifecycle:
        preStop:
          exec:
            command: [sleep, {{ int $values.shutdown.preStopSeconds | quote }}]
      resources:
        {{- toYaml $settings.resources | nindent 8 }}
      volumeMounts:
        {{- /* Whole folders: a file mounted by subPath would never change. */}}
        - name: gateway
          mountPath: /etc/wagergate/gateway
          readOnly: true
        - name: operators
          mountPath: /etc/wagergate/operators
          readOnly: true
        - name: secret-files
          mountPath: /run/secrets/wagergate
          readOnly: true
  volumes:
    - name: gateway
      configMap:
        name: {{ include "wagergate.gatewayConfigMap" $root }}
    - name: operators
      configMap:
        name: {{ include "wagergate.operatorsConfigMap" $root }}
    - name: secret-files
      secret:
        secretName: {{ include "wagergate.secretFiles" $root }}
        {{- /* Readable by the container's group (fsGroup), and by nobody else. */}}
        # 0440
        defaultMode: 288
  {{- $selector := dict "matchLabels" (merge (dict "app.kubernetes.io/component" .component) (include "wagergate.selector" $root | fromYaml)) }}
  {{- if $settings.affinity }}
  affinity:
    {{- toYaml $settings.affinity | nindent 4 }}
  {{- else if eq $settings.antiAffinity "hard" }}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            {{- toYaml $selector | nindent 12 }}
  {{- else if eq $settings.antiAffinity "soft" }}
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              {{- toYaml $selector | nindent 14 }}
  {{- end }}
  {{- if $settings.spreadOverZones }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        {{- toYaml $selector | nindent 8 }}
  {{- end }}
  {{- with $settings.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $settings.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
